/* Ensembles: probabilities near 0, searches, and what is not a number. That the probabilities are
 * the mean of those of the models: scoring.c, which searches agree with. */
#include "inference/predictor.h"
#include "tests/fixtures/hypotheses.h"
#include "tests/fixtures/random-model.h"

enum { V = 60, MOST_LENGTH = 40, S = 30, MODELS = 3 };

static Transformer model[MODELS];
static Ensemble together;
static Packed source;
static Workers *workers;
static Error error;

FIXTURE(setup)
{
    for (int m = 0; m < MODELS; m++) {
        model[m] = random_variant(&variants[3 * m], V, MOST_LENGTH - 5 * m, 80 + (uint64_t)m);
        model[m].weights.logits_bias[ID_END] += 1;
        together.model[together.count++] = &model[m];
    }
    source = random_sentences(S, 20, V, 81);
    return (workers = workers_start(2, &error)) ? 0 : -1;
}

FIXTURE(teardown)
{
    workers_stop(workers);
    for (int m = 0; m < MODELS; m++) transformer_free(&model[m]);
    free_sentences(source);
    return 0;
}

/* probability [V-1] (=) of each token after <pad> for each sentence. */
static void first_step(double *probability, const Ensemble *ensemble)
{
    Predictor *predictor = calloc(1, sizeof *predictor);
    Arena arena = {0};
    Prefix prefix[S];
    SearchTask task[S];
    for (int s = 0; s < S; s++) task[s] = (SearchTask){.limit = 4};
    SearchConfig greedy = search_default;
    greedy.beam = 1;
    const SearchBatch batch = {ensemble, &greedy, source, task};
    LAYOUT(&arena, predictor_layout(predictor, &arena, &batch));
    for (int s = 0; s < S; s++) prefix[s] = (Prefix){s, NO_NODE, V - 1, 0, 0};
    predictor_encode(predictor);
    predictor_step(predictor, prefix, S);
    for (int s = 0; s < S; s++) {
        double normaliser, sum = 0;
        const real *z = predictor_row(predictor, s, &normaliser).z;
        for (int c = 0; c < V - 1; c++) sum += probability[s * V + c] = exp(z[c] - normaliser);
        assert_true(fabs(sum - 1) < 1e-5);
    }
    arena_free(&arena);
    free(predictor);
}

/* ln p is right even if all models give a probability near 0. */
TEST(tiny_probabilities)
{
    Ensemble same = ensemble_of(&model[0]), twice = {{&model[0], &model[0]}, 2, NULL, NULL};
    model[0].weights.logits_bias[9] -= 150;
    static double one[S * V], two[S * V];
    first_step(one, &same);
    first_step(two, &twice);
    for (int s = 0; s < S; s++) {
        assert_true(one[s * V + 9] < 1e-50);
        assert_true(fabs(log(one[s * V + 9]) - log(two[s * V + 9])) < 1e-3);
    }
    model[0].weights.logits_bias[9] += 150;
}

/* Searches with the ensemble: their log-probabilities are those of scoring, the other models
 * change the result, and the same model twice gives the result of the model alone. */
TEST(searches)
{
    TranslatorInput input = {.source = source, .line = 1};
    Ensemble alone = ensemble_of(&model[0]), twice = {{&model[0], &model[0]}, 2, NULL, NULL};
    const Ensemble *const ensemble[] = {&together, &alone, &twice};
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = search_default;
        Translations out[3];
        int different = 0;
        config.beam = beam;
        for (int e = 0; e < 3; e++)
            assert_true(
                translator_run(&out[e], ensemble[e], &input, &config, workers, NULL, &error));
        check_scores(&out[0], &together, &source, &config, workers);
        for (int s = 0; s < S; s++) {
            const Hypothesis *all = out[0].sentence[s].hypothesis;
            const Hypothesis *a = out[1].sentence[s].hypothesis;
            const Hypothesis *b = out[2].sentence[s].hypothesis;
            assert_in_range(all->length, 1, MOST_LENGTH - 10);  // the shortest max_length
            different += all->length != a->length;
            assert_true(same_ids(a, b));
            assert_true(fabs(a->log_probability - b->log_probability) < 1e-3);
        }
        assert_true(different > 0);
        for (int e = 0; e < 3; e++) translations_free(&out[e]);
    }
}

TEST(not_a_number)
{
    TranslatorInput input = {.source = source, .line = 1};
    Ensemble alone = ensemble_of(&model[2]);
    real bias = model[2].weights.logits_bias[9];
    for (int test = 0; test < 16; test++) {
        SearchConfig config = search_default;
        Translations out;
        model[2].weights.logits_bias[9] = test < 8 ? NAN : INFINITY;
        config.beam = test / 2 % 2 ? 4 : 1;
        config.no_scores = test / 4 % 2;
        assert_false(translator_run(&out, test % 2 ? &alone : &together, &input, &config,
                                    workers, NULL, &error));
        assert_non_null(strstr(error.text, "NaN or infinity"));
    }
    model[2].weights.logits_bias[9] = bias;
}

TEST_MAIN("predictor", setup, teardown)
