/* document.c -- HTML documents; see document.h. */
#include "commands/translate/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "commands/command.h"
#include "data/html.h"
#include "inference/answer.h"
#include "inference/translator.h"

enum { CHUNK = 2000 };  // blocks

typedef struct Work {
    Input *input;
    const Models *models;
    Workers *workers;
    const Request *request;
    Passages passages;
    int missing;  // spans that a translation lacks
} Work;

/* translation (=) those of blocks first .. first+CHUNK-1, for free(). */
static bool translate_blocks(Work *w, const HtmlDocument *d, int first, char **translation,
                             Error *error)
{
    Passages *passages = &w->passages;
    Translations found = {0};
    bool good = true;
    passages_clear(passages);
    for (int k = first; good && k < d->count && k < first + CHUNK; k++)
        good = passages_add(passages, d->block[k].text, strlen(d->block[k].text), error);
    for (int k = 0; good && k < passages->count; k++)
        input_warn_unknown(w->input, &passages->passage[k].unknown, NULL);
    if (good && passages->lines.count) {
        const TranslatorInput input = {.source = idlines_packed(&passages->lines),
                                       .placeholder = passages_placeholder(passages),
                                       .line = 1};
        good = translator_run(&found, &w->models->ensemble, &input, &w->request->search,
                              w->workers, &file_stop, error);
    }
    for (int k = 0; good && !found.stopped && k < passages->count; k++) {
        TextAnswer a = {0};
        good =
            answer_create(&a, passages, k,
                          found.sentence ? found.sentence + passages->passage[k].first : NULL,
                          0, &w->request->search, false, error);
        for (int i = 0; good && i < a.count; i++) w->missing += a.sentence[i].missing.count;
        translation[first + k] = a.text, a.text = NULL;
        answer_free(&a);
    }
    good = good && !found.stopped;
    translations_free(&found);
    return good;
}

/* name: of the document, for errors */
static bool translate_document(Work *w, const char *html, size_t length, const char *name,
                               Error *error)
{
    HtmlDocument d = {0};
    size_t bad;
    bool good = (utf8_is_valid(html, length, &bad) ||
                 error_set(error, "%s is not valid UTF-8 (byte %zu)", name, bad + 1)) &&
                (strlen(html) == length || error_set(error, "%s has a NUL byte in it", name)) &&
                html_open(&d, html, length, error);
    char **translation = calloc((size_t)d.count + 1, sizeof *translation), *out = NULL;
    for (int k = 0; good && translation && k < d.count; k += CHUNK)
        good = translate_blocks(w, &d, k, translation, error);
    if (good && translation) out = html_join(&d, (const char *const *)translation);
    if (out) fputs(out, stdout);
    else if (good) good = error_memory(error, "for HTML");
    for (int k = 0; translation && k < d.count; k++) free(translation[k]);
    free(out);
    free(translation);
    html_close(&d);
    return good;
}

bool document_run(Input *input, const Models *models, Workers *workers, const Request *r,
                  Error *error)
{
    Work w = {.input = input, .models = models, .workers = workers, .request = r};
    bool good = passages_open(&w.passages, &models->bundle[0], &r->passage, error);
    for (int i = 0; good && i < r->texts.count; i++) {
        char name[24];
        snprintf(name, sizeof name, "text %d", i + 1);
        const char *html = r->texts.item[i];
        good = translate_document(&w, html, strlen(html), name, error);
        putchar('\n');
    }
    if (good && !r->texts.count) {
        size_t length = 0;
        char *html = file_read_input("-", TEXT_MAX_LINE, &length, error);
        good = html && translate_document(&w, html, length, TEXT_STANDARD_INPUT, error);
        free(html);
    }
    bool one = w.missing == 1;
    if (good && w.missing)
        command_say(input->news,
                    "check the translation: %d number%s, name%s or the like of the document %s "
                    "not in it",
                    w.missing, one ? "" : "s", one ? "" : "s", one ? "is" : "are");
    passages_free(&w.passages);
    return stream_flush(stdout, "the translations", error) && good;
}
