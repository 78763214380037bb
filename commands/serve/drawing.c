/* drawing.c -- the attention of a sentence; see drawing.h. */
#include "commands/serve/drawing.h"

#include <unistd.h>

#include "base/file.h"
#include "base/textstream.h"
#include "commands/command.h"
#include "explain/page.h"
#include "library/qkv-inside.h"

static const unsigned char template[] = {
#include "plots/serve.inc"
};

static const char *const formats[][2] = {{"json", "application/json"},
                                         {"svg", "image/svg+xml"},
                                         {"png", "image/png"},
                                         {"pdf", "application/pdf"},
                                         {"html", "text/html; charset=utf-8"},
                                         {"page", "text/html; charset=utf-8"}};

const char *drawing_type(const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(format, formats[i][0])) return formats[i][1];
    return NULL;
}

/* choice (=) what the request chooses. config holds its texts: free them with options_free. */
static bool read_choice(Choice *choice, const OptionGroup *group, const json_t *request,
                        const Bundle *bundle, Error *error)
{
    if (!parameters_read(group, request, error) || !choice_parse(choice, group->values, error))
        return false;
    choice_know(choice, bundle);
    return choice_check(choice, &bundle->model.config, error);
}

/* A picture, drawn by a process of its own into a file. */
static char *picture_bytes(size_t *length, const char *format, const PictureInput *input,
                           Error *error)
{
    const char *folder = getenv("TMPDIR");
    char path[512], *bytes = NULL;
    snprintf(path, sizeof path - 16, "%s/qkv-serve-XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!mkdtemp(path))
        return error_set(error, "cannot make a folder for a picture in %s", path), NULL;
    size_t end = strlen(path);
    snprintf(path + end, sizeof path - end, "/map.%s", format);
    if (command_draw_attention(path, input, "a picture", error))
        bytes = file_read(path, (size_t)1 << 30, length, error);
    unlink(path);
    path[end] = 0;
    rmdir(path);
    return bytes;
}

static char *text_bytes(size_t *length, const char *format, const PictureInput *input,
                        Error *error)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    bool page = !strcmp(format, "page"), json = !strcmp(format, "json"),
         good = out || error_memory(error, "for a page");
    if (out)
        good = json ? page_data(&(JsonWriter){.out = out}, input, true, error)
                    : page_write(out, page ? template : NULL, sizeof template, input, error);
    char *text = textstream_close(&stream);
    *length = stream.length;
    if (good && text) return text;
    free(text);
    if (good) error_memory(error, "for a page");
    return NULL;
}

char *drawing_make(size_t *length, const char *format, const json_t *request, const char *name,
                   const QkvModel *model, const PassageConfig *texts, const char *text,
                   const QkvTranslation *translation, Error *error)
{
    static const Option sentence = {.name = "sentence", .kind = OPTION_INT};
    int number = 1;
    if (!parameters_read(&(OptionGroup){.options = &sentence, .count = 1, .values = &number},
                         request, error))
        return NULL;
    if (!translation->sentences) return error_set(error, "there is nothing to translate"), NULL;
    if (number < 1 || number > translation->sentences)
        return error_set(error, "the text has sentences 1 to %d, not %d",
                         translation->sentences, number),
               NULL;
    QkvError why = {"not enough memory for a picture"};
    ChoiceConfig config = {0};
    Choice choice;
    const OptionGroup group = {"Which attention", NULL, choice_options, choice_option_count,
                               &config};
    const Bundle *bundle = inside_model(model);
    const QkvSentence *s = &translation->sentence[number - 1];
    bool picture = strcmp(format, "json") && strcmp(format, "html") && strcmp(format, "page");
    bool good = read_choice(&choice, &group, request, bundle, error);
    if (good && !picture && (config.words || config.range || config.bare || config.font))
        good = error_set(error, "`words`, `range`, `bare` and `font` are of pictures: choose "
                                "`format` svg, png or pdf");
    char *own = strndup(text + s->source_begin, s->source_end - s->source_begin), *bytes = NULL;
    QkvAttention *attention =
        good && own ? inside_attention_of(model, texts, own, &s->translation, &why) : NULL;
    if (good && !attention) error_set(error, "%s", why.text);
    if (attention) {
        const PictureInput input = {.snapshot = inside_attention(attention),
                                    .vocabulary = &bundle->vocabulary,
                                    .model_name = name,
                                    .choice = &choice,
                                    .words = true};
        bytes = (picture ? picture_bytes : text_bytes)(length, format, &input, error);
    }
    qkv_attention_free(attention);
    options_free(&group, 1);
    free(own);
    return bytes;
}
