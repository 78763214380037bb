/* webpage.c -- a page that translates by itself; see webpage.h. */
#include "commands/translate/webpage.h"

#include <glib.h>
#include <zlib.h>

#include "base/file.h"
#include "base/textstream.h"
#include "commands/command.h"
#include "explain/page.h"
#include "kernels/int8.h"

static void put_row_8(FILE *out, const real *w, size_t count)
{
    int8_t q[INT8_MOST_COLUMNS];
    float scale = int8_quantise_row(q, w, (int)count);
    fwrite(&scale, sizeof scale, 1, out);
    fwrite(q, 1, count, out);
}

static void put_row_18(FILE *out, const real *w, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxf(most, fabsf(w[i]));
    float scale = most > 0 ? most / 131071 : 1;
    fwrite(&scale, sizeof scale, 1, out);
    for (size_t i = 0; i < count; i += 4) {
        unsigned high = 0;
        for (size_t j = 0; j < 4; j++) {
            long number = lrintf(i + j < count ? w[i + j] / scale : 0) + 131072;
            putc((int)(number & 255), out);
            putc((int)(number >> 8 & 255), out);
            high |= (unsigned)(number >> 16) << 2 * j;
        }
        putc((int)high, out);
    }
}

static void put_weights(FILE *out, const Bundle *bundle, int bits)
{
    const Transformer *model = &bundle->model;
    Choice choice = choice_default;
    choice_know(&choice, bundle);
    putc(choice.known_layer + 1, out), putc(choice.known_head + 1, out);
    for (const Tensor *t = model->params.tensor; t < model->params.tensor + model->params.count;
         t++) {
        const real *w = model->block + t->offset;
        bool matrix = t->shape[1] > 1 && t->shape[0] > 1 && !strstr(t->name, "position"),
             whole = bits == 8 && !matrix;
        size_t row = t->shape[1] > 1 ? (size_t)t->shape[1] : t->count;
        putc(whole ? 32 : bits, out);
        if (whole) fwrite(w, sizeof *w, t->count, out);
        for (size_t at = 0; !whole && at < t->count; at += row)
            (bits == 8 ? put_row_8 : put_row_18)(out, w + at, row);
    }
}

/* A script element with the bytes: gzip, base64. */
static bool put_packed(FILE *out, const char *id, const void *bytes, size_t count)
{
    z_stream z = {.next_in = (void *)(uintptr_t)bytes, .avail_in = (unsigned)count};
    if (count > UINT_MAX / 2 ||
        deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t capacity = deflateBound(&z, count);
    unsigned char *packed = malloc(capacity);
    char *base64 = malloc((capacity / 3 + 1) * 4 + 4);
    int state = 0, rest = 0;
    z.next_out = packed, z.avail_out = (unsigned)capacity;
    bool good = packed && base64 && deflate(&z, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&z);
    fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
    if (good) {
        size_t length = g_base64_encode_step(packed, z.total_out, 0, base64, &state, &rest);
        length += g_base64_encode_close(0, base64 + length, &state, &rest);
        fwrite(base64, 1, length, out);
    }
    fputs("</script>\n", out);
    free(base64);
    free(packed);
    return good;
}

bool webpage_put_model(FILE *out, const Bundle *bundle, int bits, Error *error)
{
    const Vocabulary *v = &bundle->vocabulary;
    TextStream stream;
    fputs("<script type=\"text/plain\" id=\"options\">", out);
    config_print(out, &bundle->model.config);
    fputs("</script>\n", out);
    if (textstream_open(&stream)) put_weights(stream.out, bundle, bits);
    char *weights = textstream_close(&stream);
    bool good = weights && put_packed(out, "source", v->model[SOURCE], v->size[SOURCE]) &&
                put_packed(out, "vocabulary", v->model[TARGET], v->size[TARGET]) &&
                put_packed(out, "weights", weights, stream.length);
    free(weights);
    return good || error_memory(error, "for a page");
}

static void put_languages(FILE *out, const Bundle *bundle, FILE *news)
{
    bool known = true;
    fputs("<script type=\"text/plain\" id=\"codes\">", out);  // of the languages: "en fr"
    for (int side = 0; side < SIDES; side++) {
        char code[3];
        bundle_language(code, bundle, (CorpusSide)side);
        fprintf(out, "%s ", *code ? code : "und");
        known = known && *code;
    }
    if (!known)
        command_say(
            news, "the page calls its languages unknown: the files that the model was trained "
                  "on have no names such as train.en and train.fr");
    fputs("</script>\n", out);
}

/* The page without a model, for free(). */
static char *read_page(size_t *length, Error *error)
{
    char path[PATH_MAX + 40];
    if (file_of_program(path, sizeof path, 0, "build/page/own.html") ||
        file_of_program(path, sizeof path, 0, "page/own.html") ||
        file_of_program(path, sizeof path, 1, "share/qkv/own.html"))
        return file_read(path, (size_t)1 << 28, length, error);
    return error_set(error, "--page needs build/page/own.html, which make page makes"), NULL;
}

/* The attention of an empty sentence, which the page shows until it has another one. */
static bool put_page(FILE *out, const char *page, size_t length, const Bundle *bundle,
                     const char *name, FILE *news, Error *error)
{
    static const char mark[] = "@model@";
    static const int end = ID_END;
    const char *model = memmem(page, length, mark, strlen(mark));
    const char *rest = model ? model + strlen(mark) : NULL;
    if (!model) return error_set(error, "the page has no %s: make page again", mark);
    Snapshot *snapshot = snapshot_open(&bundle->model, &end, 1, &end, 1, error);
    const PictureInput input = {.snapshot = snapshot,
                                .vocabulary = &bundle->vocabulary,
                                .model_name = name,
                                .choice = &choice_default,
                                .words = true};
    bool good = snapshot && page_write(out, page, (size_t)(model - page), &input, error) &&
                webpage_put_model(out, bundle, 8, error);
    if (good) put_languages(out, bundle, news);
    if (good) fwrite(rest, 1, (size_t)(page + length - rest), out);
    snapshot_close(snapshot);
    return good;
}

bool webpage_save(const char *path, const Bundle *bundle, const char *name, FILE *news,
                  Error *error)
{
    size_t length;
    TextStream stream;
    char *page = read_page(&length, error);
    if (!page) return false;
    char *file = g_path_get_basename(name);
    bool good = (textstream_open(&stream) || error_memory(error, "for a page")) &&
                put_page(stream.out, page, length, bundle, file, news, error);
    char *text = textstream_close(&stream);
    g_free(file);
    free(page);
    if (good) return file_replace_text(path, text, error);
    free(text);
    return false;
}
