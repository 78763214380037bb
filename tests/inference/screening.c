/* Screening: the bound holds, the best token is that of all logits, and greedy search finds the same
 * translations, bit for bit. */
#include "inference/screening.h"
#include "base/rng.h"
#include "inference/search.h"
#include "model/quantised.h"
#include "tests/fixtures/hypotheses.h"
#include "tests/fixtures/random-model.h"

enum { V = 303, C = V - 1, D = 48, MOST_LENGTH = 40, S = 40, FIRST_PLACEHOLDER = 2, TWIN = 70 };

static Transformer model;
static Screening screening;
static Packed source;
static Workers *workers;
static Error error;

FIXTURE(setup)
{
    model = random_model(V, MOST_LENGTH, 60);
    real *E = model.weights.output.at;
    model.weights.logits_bias[ID_END] += 1;
    memcpy(E + (TWIN + 100) * D, E + TWIN * D, D * sizeof *E);  // two tokens with equal logits
    model.weights.logits_bias[TWIN + 100] = model.weights.logits_bias[TWIN];
    source = random_sentences(S, 20, V, 61);
    return (workers = workers_start(2, &error)) && transformer_prepare(&model, false, &error) &&
                   screening_open(&screening, &model, &error)
               ? 0
               : -1;
}

FIXTURE(teardown)
{
    workers_stop(workers);
    screening_close(&screening);
    transformer_free(&model);
    free_sentences(source);
    return 0;
}

/* z, screened [C] (=) the logits of a row x [D] and those of int8. */
static void logits(real *z, real *screened, const real *x)
{
    const real *bias = model.weights.logits_bias;
    matrix_multiply(z, x, &model.weights.output, bias, 1, C, D);
    int8_multiply(screened, x, screening.rows, bias, 1, C);
}

static void random_row(real *x, Rng *rng)
{
    double scale = exp(3 * rng_normal(rng));
    for (int k = 0; k < D; k++) x[k] = (real)(scale * rng_normal(rng));
    if (rng_below(rng, 4) == 0) x[rng_below(rng, D)] *= 30;
}

TEST(bound)
{
    Rng rng = rng_stream(1, RNG_TEST, 0);
    double nearest = 0;
    for (int round = 0; round < 2000; round++) {
        real x[D], z[C], screened[C];
        random_row(x, &rng);
        double bound = screening_bound(&screening, x);
        logits(z, screened, x);
        for (int c = 0; c < C; c++) {
            double off = fabs((double)z[c] - (double)screened[c]);
            assert_true(off <= bound);
            nearest = fmax(nearest, off / bound);
        }
    }
    assert_true(nearest > 0.2);  // no bound that is always far away
}

TEST(best_of_some)
{
    Rng rng = rng_stream(2, RNG_TEST, 0);
    int twins = 0, none = 0;
    for (int round = 0; round < 4000; round++) {
        real x[D], z[C], screened[C];
        random_row(x, &rng);
        int best = -1, allowed = (int)rng_below(&rng, 200);
        if (round % 4 == 0)  // near a token's own row
            matrix_row(x, &model.weights.output, round % 8 ? TWIN : (int)rng_below(&rng, C), D);
        logits(z, screened, x);
        for (int c = 0; c < C; c++) {
            if (round % 2 && (int)rng_below(&rng, 200) >= allowed) screened[c] = -INFINITY;
            else if (best < 0 || z[c] > z[best]) best = c;
        }
        assert_int_equal(screening_best(&screening, screened, x), best);
        twins += best == TWIN, none += best < 0;
    }
    assert_true(twins > 200 && none > 0);
}

TEST(searches)
{
    static int begin[] = {40, 41, FIRST_PLACEHOLDER}, start[] = {0, 3};
    const Packed prefix = {1, 3, begin, start};
    Ensemble without = ensemble_of(&model), with = without;
    with.screening = &screening;
    int longest = 0;
    for (int setting = 0; setting < 16; setting++) {
        SearchConfig config = search_default;
        TranslatorInput input = {.source = source, .line = 1};
        Translations a, b;
        config.beam = 1, config.no_scores = true, config.max_length_ratio = 2;
        if (setting & 1) config.no_repeat_ngram = 1 + setting % 3;
        if (setting & 2) config.min_length = 9, config.copy_unknown = true;
        if (setting & 4) input.placeholder = FIRST_PLACEHOLDER;
        if (setting & 8) config.unknown = true, config.batch_rows = 7;
        if (setting == 9) input.prefix = &prefix;
        assert_true(translator_run(&a, &without, &input, &config, workers, NULL, &error));
        assert_true(translator_run(&b, &with, &input, &config, workers, NULL, &error));
        for (int s = 0; s < S; s++) {
            assert_true(same_ids(a.sentence[s].hypothesis, b.sentence[s].hypothesis));
            longest = a.sentence[s].hypothesis->length > longest
                          ? a.sentence[s].hypothesis->length
                          : longest;
        }
        translations_free(&a);
        translations_free(&b);
    }
    assert_in_range(longest, 15, MOST_LENGTH);
}

TEST(not_a_number)
{
    Ensemble with = ensemble_of(&model);
    SearchConfig config = search_default;
    TranslatorInput input = {.source = source, .line = 1};
    Translations out;
    real bias = model.weights.logits_bias[9];
    with.screening = &screening, config.beam = 1, config.no_scores = true;
    for (int infinite = 0; infinite < 2; infinite++) {
        model.weights.logits_bias[9] = infinite ? INFINITY : NAN;
        assert_false(translator_run(&out, &with, &input, &config, workers, NULL, &error));
        assert_non_null(strstr(error.text, "NaN or infinity"));
    }
    model.weights.logits_bias[9] = bias;
}

TEST_MAIN("screening", setup, teardown)
