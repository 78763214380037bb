/* Scoring against the training loss, of all and of each token, and an ensemble against the mean
 * of its models' probabilities. */
#include "inference/scoring.h"
#include "inference/translator.h"
#include "tests/fixtures/random-model.h"

enum { V = 60, MOST_LENGTH = 48, S = 90 };

static Packed source, target;
static Workers *workers[4];  // of 1, 2 and 3 threads
static Error error;

FIXTURE(setup)
{
    source = random_sentences(S, 20, V, 1);
    target = random_sentences(S, 24, V, 2);
    for (int threads = 1; threads <= 3; threads++)
        if (!(workers[threads] = workers_start(threads, &error))) return -1;
    return 0;
}

FIXTURE(teardown)
{
    for (int threads = 1; threads <= 3; threads++) workers_stop(workers[threads]);
    free_sentences(source);
    free_sentences(target);
    return 0;
}

/* The loss as training computes it, all pairs in one pass; own [rows] (=) of each token
 * alone. */
static Loss training_loss(double *own, const Transformer *model)
{
    Activations *a = calloc(1, sizeof *a);
    Arena arena = {0};
    Loss loss = {0};
    const Weights *w = &model->weights;
    int D = model->config.d_model;
    const OutputLayer layer = {w->output.at, w->logits_bias, V - 1, D, SET};
    LAYOUT(&arena,
           transformer_layout(a, &arena, model, &source, &target, NULL, KEEP_FOR_BACKWARD));
    transformer_forward(a, model);
    transformer_loss(&loss, a, model, 0.1);
    for (int i = 0; i < target.rows; i++) {
        Loss one = {0};
        loss_backward(&one, NULL, NULL, a->output + i * D, &layer,
                      &(Objective){.target = target.id + i, .smoothing = 0.1, .scale = 1},
                      &a->loss, 1);
        own[i] = one.nll;
    }
    arena_free(&arena);
    free(a);
    return loss;
}

/* [target.rows] log-probabilities of all pairs; the caller frees them. */
static double *score(const Ensemble *ensemble, int threads)
{
    double *each = malloc((size_t)target.rows * sizeof *each);
    assert_true(
        scoring_run(each, NULL, ensemble, &source, &target, workers[threads], NULL, &error));
    return each;
}

/* On any number of threads. */
TEST(equals_the_training_loss)
{
    for (int v = 0; v < VARIANTS; v++) {
        Transformer model = random_variant(&variants[v], V, MOST_LENGTH, 10 + v);
        Ensemble ensemble = ensemble_of(&model);
        double *each = score(&ensemble, 1), sum = 0;
        double *own = malloc((size_t)target.rows * sizeof *own);
        Loss loss = training_loss(own, &model);
        for (int i = 0; i < target.rows; i++) {
            assert_true(fabs(each[i] + own[i]) < 1e-4);
            sum += each[i];
        }
        assert_int_equal(loss.tokens, target.rows);
        assert_true(fabs(-sum - loss.nll) / (double)loss.tokens < 1e-5);
        for (int threads = 2; threads <= 3; threads++) {
            double *same = score(&ensemble, threads);
            assert_memory_equal(same, each, (size_t)target.rows * sizeof *each);
            free(same);
        }
        free(each);
        free(own);
        transformer_free(&model);
    }
}

/* What greedy and beam search give each token of a hypothesis is what scoring gives it, also in an
 * ensemble, and the sum is that of the hypothesis. */
TEST(equals_the_search)
{
    Transformer model[2];
    Ensemble ensemble = {0};
    for (int m = 0; m < 2; m++) {
        model[m] = random_variant(&variants[m], V, MOST_LENGTH, 60 + m);
        ensemble.model[ensemble.count++] = &model[m];
        for (int beam = 1; beam <= 5; beam += 4) {
            Translations out;
            SearchConfig config = search_default;
            config.beam = config.n_best = beam;
            TranslatorInput input = {.source = source};
            assert_true(
                translator_run(&out, &ensemble, &input, &config, workers[2], NULL, &error));
            int compared = 0;
            for (int s = 0; s < out.sentences; s++)
                for (int h = 0; h < out.sentence[s].count; h++) {
                    const Hypothesis *y = &out.sentence[s].hypothesis[h];
                    Packed x = packed_slice((int[2]){0}, &source, s, s + 1);
                    Packed one = {1, y->length, y->id, (int[]){0, y->length}};
                    double *each = malloc((size_t)y->length * sizeof *each), sum = 0;
                    assert_true(
                        scoring_run(each, NULL, &ensemble, &x, &one, workers[1], NULL, &error));
                    for (int t = 0; t < y->length; t++, compared++) {
                        assert_true(fabs(each[t] - y->each[t]) < 1e-4);
                        sum += y->each[t];
                    }
                    assert_true(fabs(sum - y->log_probability) < 1e-9);
                    free(each);
                }
            assert_true(compared > 5 * out.sentences);
            translations_free(&out);
        }
    }
    for (int m = 0; m < 2; m++) transformer_free(&model[m]);
}

/* Three models, one of them of another shape: the mean of their probabilities. */
TEST(ensemble_is_the_mean)
{
    enum { MODELS = 3 };
    Transformer model[MODELS];
    Ensemble together = {0};
    double *each[MODELS];
    for (int m = 0; m < MODELS; m++) {
        model[m] = random_variant(&variants[m], V, m == 2 ? 30 : MOST_LENGTH, 40 + m);
        Ensemble alone = ensemble_of(&model[m]);
        together.model[together.count++] = &model[m];
        each[m] = score(&alone, 1);
    }
    assert_int_equal(ensemble_config(&together).max_length, 30);
    double *mean = score(&together, 2);
    for (int i = 0; i < target.rows; i++) {
        double p = 0;
        for (int m = 0; m < MODELS; m++) p += exp(each[m][i]) / MODELS;
        assert_true(fabs(mean[i] - log(p)) < 1e-9);
    }
    for (int m = 0; m < MODELS; m++) {
        free(each[m]);
        transformer_free(&model[m]);
    }
    free(mean);
}

/* Scoring the pairs must fail with an error that contains `says`. */
static void refuse(const Ensemble *ensemble, const Packed *from, const Packed *to,
                   const volatile sig_atomic_t *stop, const char *says)
{
    double *each = malloc((size_t)target.rows * sizeof *each);
    assert_false(scoring_run(each, NULL, ensemble, from, to, workers[3], stop, &error));
    if (!strstr(error.text, says)) fail_msg("said: %s", error.text);
    free(each);
}

TEST(refusals)
{
    Transformer model = random_model(V, MOST_LENGTH, 50);
    Ensemble ensemble = ensemble_of(&model);
    Packed fewer = {S - 1, target.start[S - 1], target.id, target.start};
    Packed fine = {1, 2, (int[]){2, 0}, (int[]){0, 2}};
    Packed bad = {1, 2, (int[]){2, 3}, (int[]){0, 2}}, none = {0, 0, source.id, (int[]){0}};
    refuse(&ensemble, &source, &fewer, NULL, "90 sources, but 89 targets");
    refuse(&ensemble, &fine, &bad, NULL,
           "target sentence 1: token 2 of 2 is not </s>, which ends a sentence");
    refuse(&ensemble, &bad, &fine, NULL, "source sentence 1");
    volatile sig_atomic_t stop = 1;
    refuse(&ensemble, &source, &target, &stop, "");
    assert_string_equal(error.text, "");
    assert_true(scoring_run(NULL, NULL, &ensemble, &none, &none, workers[2], NULL, &error));

    model.weights.logits_bias[9] = NAN;
    refuse(&ensemble, &source, &target, NULL, "NaN or infinity");
    transformer_free(&model);
}

TEST_MAIN("scoring", setup, teardown)
