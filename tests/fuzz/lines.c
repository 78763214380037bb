/* lines.c -- fuzzes what ./translate reads beside its model: the lines to translate; 0x1E; given
 * translations, or references; 0x1E; gold alignments. The first byte chooses among
 *
 *     0 translate, 1 translate with --given, 2 --score, 3 --align, 4 --hypothesis,
 *     5 as 0, 6 translate texts of the command line
 *
 * and what is printed; 0x80: invalid text is replaced. Without --align, a layer and a text for
 * --head take the place of gold alignments. */
#include <math.h>

#include "base/utf8.h"
#include "tests/fixtures/fuzz-model.h"

#include "commands/translate/alignment.h"
#include "commands/translate/likelihood.h"
#include "commands/translate/scores.h"
#include "commands/translate/view.h"
#include "inference/translator.h"

static Workers *worker;
static FILE *nowhere;

/* Translates a line, or shows that it has the given translation. */
static void translate(View *view, Input *input, Passages *passages, const char *line,
                      size_t length, const IdLines *given)
{
    Ensemble ensemble = ensemble_of(&view->bundle->model);
    Translations out = {0};
    Hypothesis best = {0};
    Translation pair = {&best, 1, 100}, *found = &pair;
    char *text = NULL;
    passages->whole = passages->plain = given;
    passages_clear(passages);
    passages->begun = given;
    if (!accepted(passages_add(passages, line, length, &error))) return;
    input_warn_unknown(input, &passages->passage->unknown, NULL);
    TranslatorInput one = {.source = idlines_packed(&passages->lines),
                           .placeholder = passages->placeholder,
                           .line = 1};
    bool good = true;
    if (given) {
        best = (Hypothesis){given->ids.id, (int)given->ids.count, NAN, NAN,
                            calloc(given->ids.count + 1, sizeof(double))};
    } else if (passages->lines.count) {
        good = accepted(translator_run(&out, &ensemble, &one, &view->request->search, worker,
                                       NULL, &error));
        found = out.sentence;
    }
    if (good) accepted(view_answer(view, &text, passages, 0, found, &error));
    translations_free(&out);
    free(best.each);
    free(text);
}

static void translate_all(View *view, Input *input, const char *given)
{
    const char *line;
    size_t length;
    TextResult result;
    static const PassageConfig config;
    IdLines lines = {.find_unknown = true};
    Passages passages;
    assert(passages_open(&passages, view->bundle, &config, &error));
    passages.lines.find_words = true;
    bool good = !given || accepted(bundle_encode(view->bundle, TARGET, &lines, given,
                                                 strlen(given), &length, &error));
    while (good && (result = input_next(input, &line, &length, &error)) != TEXT_END) {
        if (!accepted(result == TEXT_LINE)) break;
        translate(view, input, &passages, line, length, given ? &lines : NULL);
        input_ready(input);
    }
    passages_free(&passages);
    idlines_free(&lines);
}

/* The lines of a text, which it changes. */
static StringList lines_of(char *text)
{
    StringList list = {0};
    for (char *line; (line = strsep(&text, "\n"));) strings_add(&list, line, &error);
    return list;
}

typedef enum { TRANSLATE, GIVEN, SCORE, ALIGN, HYPOTHESIS, DESCRIPTOR, TEXTS } What;

/* Reads the input as `what` says. */
static void work(What what, View *view, Input *input, char *const part[3])
{
    static Models models;
    const Request *r = view->request;
    Scores scores;
    models.bundle[0] = *view->bundle;
    models.ensemble = ensemble_of(&view->bundle->model);
    switch (what) {
    case GIVEN:
        if (!utf8_is_valid(part[1], strlen(part[1]), NULL)) break;
        translate_all(view, input, part[1]);
        break;
    case SCORE: accepted(likelihood_run(input, &models, worker, r->json, &error)); break;
    case ALIGN: accepted(alignment_run(input, view->bundle, view->by, r, NULL, &error)); break;
    case HYPOTHESIS:
        accepted(scores_open(&scores, r, NULL, &error) && scores_add_files(&scores, &error) &&
                 scores_end(&scores, nowhere, r->json, &error));
        scores_close(&scores);
        break;
    default: translate_all(view, input, NULL);
    }
}

static void begin(unsigned flags, char *const path[3], char *const part[3])
{
    static char *model[] = {FUZZ_MODEL};
    What what = flags & 7;
    bool given = what == GIVEN, gold = what == ALIGN && flags & 8;
    Request request = {.model = {model, 1},
                       .search = search_copying,
                       .json = flags & 8,
                       .explain = (given || what == TRANSLATE) && flags & 16,
                       .show = (given || what == TRANSLATE) && flags & 32,
                       .align = flags & 64 || what == ALIGN,
                       .hypothesis = {(char **)path, flags & 32 ? 2 : 1},
                       .reference = {(char **)path + 1, flags & 64 ? 2 : 1},
                       .significance = SIGNIFICANCE_NONE,
                       .invalid = flags & 128 ? TEXT_REPLACE : TEXT_STOP,
                       .align_unit =
                           what == ALIGN && flags & 64 ? ALIGN_CHARACTERS : ALIGN_WORDS,
                       .gold = gold ? path[2] : NULL};
    ChoiceConfig choice = {0};
    if (!gold && *part[2]) choice = (ChoiceConfig){.layer = *part[2] & 3, .head = part[2] + 1};
    if (!accepted(choice_parse(&request.choice, &choice, &error))) return;
    View view = {.request = &request, .bundle = fuzz_model(), .news = nowhere};
    StringList texts = {0};
    Input input = {.texts = &texts, .news = nowhere};
    if (what == TEXTS) texts = lines_of(part[0]);
    assert(text_open(&input.reader, path[0], &error));
    if (flags & 16) assert(text_open(&input.target, path[1], &error));
    if (gold) assert(text_open(&input.gold, path[2], &error));
    input.reader.replace = input.target.replace = flags & 128;
    if (accepted(view_open(&view, &error))) work(what, &view, &input, part);
    input_end(&input);
    accepted(view_close(&view, &error));
    input_close(&input);
    strings_free(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const name[] = {"lines", "other", "gold"};
    char path[3][TEMPORARY_SIZE + 32], *part[3], *paths[3];
    size_t length;
    if (!size) return 0;
    if (!worker)
        assert(worker = workers_start(1, &error)), stdout = nowhere = fopen("/dev/null", "w");
    unsigned flags = *data++;
    size--;
    for (int i = 0; i < 3; i++) {
        part[i] = fuzz_part(&length, &data, &size);
        paths[i] = fuzz_file(path[i], name[i], part[i], length);
    }
    begin(flags, paths, part);
    for (int i = 0; i < 3; i++) free(part[i]);
    return 0;
}
