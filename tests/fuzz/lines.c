/* lines.c -- fuzzes what ./translate reads beside its model: the lines to translate; 0x1E; given
 * translations, or references; 0x1E; gold alignments. The first byte chooses among
 *
 *     0 translate, 1 translate with --given, 2 --score, 3 --align, 4 --hypothesis
 *
 * and what is printed; 0x80: invalid text is replaced. */
#include "tests/fixtures/fuzz-model.h"

#include "commands/translate/pairs.h"
#include "commands/translate/scores.h"
#include "inference/translator.h"

static const volatile sig_atomic_t go_on;
static Workers *worker;
static FILE *nowhere;

static void answer(View *view, Input *input, const IdLines *lines,
                   const Translation *translation)
{
    char *text = NULL;
    accepted(view_answer(view, &text, lines, 0, translation, input->lines, &error));
    free(text);
}

/* Translates a line, or shows that it has the given translation. */
static void translate(View *view, Input *input, const char *line, size_t length,
                      const IdLines *given)
{
    const Bundle *bundle = view->bundle;
    IdLines lines = {.find_words = true, .find_unknown = true};
    Ensemble ensemble = ensemble_of(&bundle->model);
    Translations out;
    size_t cut;
    view->given = given;
    if (accepted(bundle_encode(bundle, SOURCE, &lines, line, length, &cut, &error))) {
        input_warn_unknown(input, &lines, NULL);
        TranslatorInput one = {.source = idlines_packed(&lines), .line = 1};
        Hypothesis best = {0};
        if (given) {
            best = (Hypothesis){given->ids.id, (int)given->ids.count, NAN, NAN};
            answer(view, input, &lines, &(Translation){&best, 1});
        } else if (accepted(translator_run(&out, &ensemble, &one, &view->request->search,
                                           worker, NULL, &error))) {
            answer(view, input, &lines, out.sentence);
            translations_free(&out);
        }
    }
    idlines_free(&lines);
}

static void translate_all(View *view, Input *input, const char *given)
{
    const char *line;
    size_t length;
    TextResult result;
    IdLines lines = {.find_unknown = true};
    bool good = !given || accepted(bundle_encode(view->bundle, TARGET, &lines, given,
                                                 strlen(given), &length, &error));
    while (good && (result = input_next(input, &line, &length, &error)) != TEXT_END) {
        if (!accepted(result == TEXT_LINE)) break;
        translate(view, input, line, length, given ? &lines : NULL);
    }
    idlines_free(&lines);
}

static void work(unsigned flags, char *const path[3], const char *given)
{
    static const StringList none;
    static char *model[] = {FUZZ_MODEL};
    unsigned what = flags & 7;
    Request request = {.model = {model, 1},
                       .search = search_copying,
                       .choice = choice_default,
                       .picture = picture_default,
                       .json = flags & 8,
                       .explain = what < 2 && flags & 16,
                       .show = what < 2 && flags & 32,
                       .align = {.align = flags & 64 || what == 3,
                                 .gold = what == 3 && flags & 8 ? path[2] : NULL}};
    View view = {.request = &request, .bundle = fuzz_model(), .news = nowhere};
    Input input = {.texts = &none, .news = nowhere};
    TextReader other;
    Scores scores = {.chrf.word_order = CHRF_WORD_ORDER};
    Pairs pairs = {fuzz_model(), &input, flags & 16 ? &other : NULL, nowhere, "--score",
                   "scored",     &go_on};
    Ensemble ensemble = ensemble_of(&view.bundle->model);
    assert(text_open(&input.reader, path[0], &error) && text_open(&other, path[1], &error));
    input.reader.replace = other.replace = flags & 128;
    if (accepted(view_open(&view, &error))) switch (what) {
        case 0: translate_all(&view, &input, NULL); break;
        case 1:
            if (text_is_utf8(given, strlen(given), NULL)) translate_all(&view, &input, given);
            break;
        case 2:
            accepted(likelihood_run(&pairs, &ensemble, worker, request.json, &error));
            break;
        case 3: accepted(alignment_run(&pairs, &view, &error)); break;
        default:
            if (accepted(scores_add_file(&scores, path[0], &other, &error)))
                (request.json ? scores_print_json : scores_print)(&scores, nowhere);
        }
    input_end(&input);
    accepted(view_close(&view, &error));
    input_close(&input);
    text_close(&other);
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
    work(flags, paths, part[1]);
    for (int i = 0; i < 3; i++) free(part[i]);
    return 0;
}
