/* searcherrors.c -- in how many sentences a plain beam search finds a better hypothesis than ours,
 * and the reverse. The model is random, so that many hypotheses are about equally probable. */
#include "inference/predictor.h"
#include "tests/fixtures/hypotheses.h"
#include "tests/fixtures/random-model.h"

/* ---- the plain search: `beam` live hypotheses beside the finished ones ---- */

typedef struct Extension {
    double log_probability;
    int row, token;
} Extension;

static int more_probable(const void *a, const void *b)
{
    const Extension *x = a, *y = b;
    return (x->log_probability < y->log_probability) -
           (x->log_probability > y->log_probability);
}

/* Until `beam` hypotheses have ended: all extensions of the live ones are sorted. Those among
 * the best `beam` that end are finished; the best `beam` of those that do not end live on.
 * Returns the best score. */
static double plain_search(const Ensemble *ensemble, const Packed *source,
                           const SearchConfig *config, Extension *all)
{
    int C = ensemble_tokens(ensemble), beam = config->beam, live = 1, finished = 0;
    SearchTask task = {.limit =
                           search_limit(config, &ensemble->model[0]->config, source->rows, 0)};
    SearchBatch batch = {ensemble, config, *source, &task, NULL};
    Predictor *predictor = calloc(1, sizeof *predictor);
    Arena arena = {0};
    Prefix prefix[MAX_BEAM] = {{0, NO_NODE, C, 0, 0}};
    double best = -INFINITY;
    LAYOUT(&arena, predictor_layout(predictor, &arena, &batch));
    predictor_encode(predictor);
    for (int step = 1; live && finished < beam; step++) {
        int first = predictor_step(predictor, prefix, live), count = 0;
        for (int r = 0; r < live; r++) {
            double normaliser;
            const real *z = predictor_row(predictor, r, &normaliser);
            for (int c = 0; c < C; c++)
                if (c != ID_UNKNOWN && (step < task.limit || c == ID_END))
                    all[count++] =
                        (Extension){prefix[r].log_probability + z[c] - normaliser, r, c};
        }
        qsort(all, (size_t)count, sizeof *all, more_probable);
        live = 0;
        for (int i = 0; i < count && live < beam; i++) {
            Extension e = all[i];
            if (e.token != ID_END)
                prefix[live++] = (Prefix){0, first + e.row, e.token, 0, e.log_probability};
            else if (i < beam) {
                finished++;
                best = fmax(best, search_score(config, e.log_probability, step));
            }
        }
    }
    arena_free(&arena);
    free(predictor);
    return best;
}

static Transformer model;
static Packed source;

/* Of all sentences: *worse (=) in how many our search with `beam` finds a worse hypothesis than
 * the plain one with `plain`, and *better a better one. */
static void compare(int *worse, int *better, int beam, int plain)
{
    Ensemble alone = ensemble_of(&model);
    Error error;
    SearchConfig ours = search_default, other = search_default;
    ours.beam = beam, other.beam = plain;
    TranslatorInput input = {.source = source};
    Workers *workers = workers_start(1, &error);
    Translations out;
    assert_true(translator_run(&out, &alone, &input, &ours, workers, NULL, &error));
    Extension *all = malloc(sizeof *all * MAX_BEAM * (size_t)model.config.vocab);
    *worse = *better = 0;
    for (int s = 0; s < source.sentences; s++) {
        int start[2];
        Packed one = packed_slice(start, &source, s, s + 1);
        double score = plain_search(&alone, &one, &other, all);
        *worse += score > out.sentence[s].hypothesis->score + 1e-5;
        *better += score < out.sentence[s].hypothesis->score - 1e-5;
    }
    print_message(
        "beam %d, %d sentences: the plain search with beam %d is better in %d, worse in %d\n",
        beam, source.sentences, plain, *worse, *better);
    free(all);
    translations_free(&out);
    workers_stop(workers);
}

TEST(no_more_errors_than_a_plain_search)
{
    int worse, better;
    model = random_variant(&variants[0], 40, 64, 11);
    model.weights.logits_bias[ID_END] += 1;
    source = random_sentences(300, 20, 40, 12);
    for (int beam = 2; beam <= 4; beam += 2) {
        compare(&worse, &better, beam, beam);
        assert_true(worse <= better);
    }
    compare(&worse, &better, 1, 4);  // a comparison that must notice errors
    assert_true(worse > better);
    free_sentences(source);
    transformer_free(&model);
}

TEST_MAIN("searcherrors", NULL, NULL)
