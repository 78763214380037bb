/* Several models as one: the mean of their probabilities, and searches with it. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "inference/predictor.h"
#include "inference/scoring.h"
#include "inference/translator.h"
#include "tests/fixtures/searches.h"

enum { V = 60, MOST_LENGTH = 40, S = 30, MODELS = 3 };

static Transformer model[MODELS];
static Ensemble together;
static Packed source;
static Workers *workers;
static Error error;

static int setup(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        model[m] = random_variant(&variants[3 * m], V, MOST_LENGTH - 5 * m, 80 + (uint64_t)m);
        model[m].weights.logits_bias[ID_END] += 1;
        if (!ensemble_add(&together, &model[m], &error)) return -1;
    }
    source = random_sentences(S, 20, V, 81);
    return (workers = workers_start(2, &error)) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
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
    const SearchBatch batch = {ensemble, &greedy, source, task, NULL};
    predictor_layout(predictor, &arena, &batch);
    assert_true(arena_reserve(&arena, &error));
    predictor_layout(predictor, &arena, &batch);
    for (int s = 0; s < S; s++) prefix[s] = (Prefix){s, NO_NODE, V - 1};
    predictor_encode(predictor);
    predictor_step(predictor, prefix, S);
    for (int s = 0; s < S; s++) {
        double normaliser, sum = 0;
        const real *z = predictor_row(predictor, s, &normaliser);
        for (int c = 0; c < V - 1; c++) sum += probability[s * V + c] = exp(z[c] - normaliser);
        assert_true(fabs(sum - 1) < 1e-5);
    }
    arena_free(&arena);
    free(predictor);
}

TEST(the_mean_of_probabilities)
{
    static double mean[S * V], own[MODELS][S * V];
    double worst = 0;
    first_step(mean, &together);
    for (int m = 0; m < MODELS; m++) {
        Ensemble alone = ensemble_of(&model[m]);
        first_step(own[m], &alone);
    }
    for (int s = 0; s < S; s++)
        for (int c = 0; c < V - 1; c++) {
            double expected = 0;
            for (int m = 0; m < MODELS; m++) expected += own[m][s * V + c] / MODELS;
            double d = fabs(mean[s * V + c] / expected - 1);
            if (d > worst) worst = d;
        }
    print_message("relative error at most %.1e\n", worst);
    assert_true(worst < 1e-5);
}

/* Where all models give next to nothing, ln p still is what it should be. */
TEST(tiny_probabilities)
{
    Ensemble same = ensemble_of(&model[0]), twice = same;
    assert_true(ensemble_add(&twice, &model[0], &error));
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

/* log p of what they find together is what scoring together says; a beam of one is greedy search;
 * the same model twice finds what it finds alone. */
TEST(searches)
{
    TranslatorInput input = {.source = source, .line = 1};
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = search_default;
        Translations out, other;
        config.beam = beam;
        assert_true(translator_run(&out, &together, &input, &config, workers, NULL, &error));
        int id[S * MOST_LENGTH], start[S + 1] = {0}, different = 0;
        double each[S * MOST_LENGTH];
        for (int s = 0; s < S; s++) {
            const Hypothesis *best = out.sentence[s].hypothesis;
            assert_in_range(best->length, 1, MOST_LENGTH - 10);  // the shortest max_length
            memcpy(id + start[s], best->id, (size_t)best->length * sizeof *id);
            start[s + 1] = start[s] + best->length;
        }
        Packed target = {S, start[S], id, start};
        assert_true(scoring_run(each, &together, &source, &target, workers, NULL, &error));
        for (int s = 0; s < S; s++) {
            double sum = 0;
            for (int t = start[s]; t < start[s + 1]; t++) sum += each[t];
            assert_true(fabs(sum - out.sentence[s].hypothesis->log_probability) < 1e-3);
        }
        Ensemble alone = ensemble_of(&model[0]), twice = alone;
        assert_true(translator_run(&other, &alone, &input, &config, workers, NULL, &error));
        for (int s = 0; s < S; s++)
            different +=
                other.sentence[s].hypothesis->length != out.sentence[s].hypothesis->length;
        assert_true(different > 0);  // the others have a say
        translations_free(&out);
        assert_true(ensemble_add(&twice, &model[0], &error));
        assert_true(translator_run(&out, &twice, &input, &config, workers, NULL, &error));
        for (int s = 0; s < S; s++) {
            const Hypothesis *a = out.sentence[s].hypothesis, *b = other.sentence[s].hypothesis;
            assert_true(same_ids(a, b));
            assert_true(fabs(a->log_probability - b->log_probability) < 1e-3);
        }
        translations_free(&out);
        translations_free(&other);
    }
}

TEST(not_a_number)
{
    TranslatorInput input = {.source = source, .line = 1};
    Translations out;
    real bias = model[2].weights.logits_bias[9];
    model[2].weights.logits_bias[9] = NAN;
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = search_default;
        config.beam = beam;
        config.no_scores = true;
        assert_false(translator_run(&out, &together, &input, &config, workers, NULL, &error));
        assert_non_null(strstr(error.text, "NaN or infinity"));
        Ensemble alone = ensemble_of(&model[2]);
        assert_false(translator_run(&out, &alone, &input, &config, workers, NULL, &error));
        assert_non_null(strstr(error.text, "NaN or infinity"));
    }
    model[2].weights.logits_bias[9] = bias;
}

int main(void)
{
    return run_all_tests("predictor", setup, teardown);
}
