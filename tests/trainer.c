/* trainer.c -- updates: the same bits for any number of threads, the sum of micro-batches, the
 * schedule, clipping, and what happens to a gradient that is not finite. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "training/adam.h"
#include "training/schedule.h"
#include "training/trainer.h"

enum { S = 23, LONGEST = 9, V = 31, UPDATES = 5 };

static const ModelConfig SHAPE = {.vocab = V, .d_model = 24, .heads = 3, .ffn = 40,
                                  .encoder_layers = 2, .decoder_layers = 2, .max_length = 16,
                                  .output_bias = true};

/* One side of a batch: S sentences of 1 .. LONGEST tokens. */
typedef struct Side {
    int id[S * LONGEST], start[S + 1];
    Packed packed;
} Side;

static void make_side(Side *side, uint64_t seed)
{
    Rng rng = rng_stream(seed, RNG_TEST, 0);
    side->start[0] = 0;
    for (int s = 0; s < S; s++) {
        int length = 1 + (int)rng_below(&rng, LONGEST), at = side->start[s];
        for (int i = 0; i < length - 1; i++)
            side->id[at + i] = 2 + (int)rng_below(&rng, V - 3);
        side->id[at + length - 1] = ID_END;
        side->start[s + 1] = at + length;
    }
    side->packed = (Packed){S, side->start[S], side->id, side->start};
}

static TrainingConfig config(void)
{
    TrainingConfig c = training_defaults();
    c.micro_tokens = 30;
    c.accumulators = 4;
    c.warmup = 3;
    c.learning_rate = 0.01;
    c.dropout = 0.2;
    c.attention_dropout = 0.1;
    c.activation_dropout = 0.1;
    return c;
}

/* What a training leaves: weights and moments, compared byte by byte. */
typedef struct Result {
    Transformer model;
    real *m, *v;
    UpdateStats last;
} Result;

static void train(Result *result, const TrainingConfig *c, int threads, int from, int to,
                  const Result *before)
{
    Error error;
    Side source, target;
    assert_true(transformer_create(&result->model, &SHAPE, &error));
    size_t bytes = result->model.params.size * sizeof(real);
    Workers *workers = workers_start(threads, &error);
    Trainer *trainer = trainer_create(&result->model, c, workers, &error);
    assert_non_null(workers);
    assert_non_null(trainer);
    if (before) {
        memcpy(result->model.block, before->model.block, bytes);
        memcpy(trainer_m(trainer), before->m, bytes);
        memcpy(trainer_v(trainer), before->v, bytes);
    } else {
        params_initialise(&result->model.params, result->model.block, 7);
    }
    for (int u = from; u <= to; u++) {
        make_side(&source, (uint64_t)u);
        make_side(&target, (uint64_t)u + 100);
        assert_true(trainer_update(trainer, u, &source.packed, &target.packed, &result->last,
                                   &error));
        assert_int_equal(result->last.loss.tokens, target.packed.rows);
    }
    result->m = malloc(bytes);
    result->v = malloc(bytes);
    memcpy(result->m, trainer_m(trainer), bytes);
    memcpy(result->v, trainer_v(trainer), bytes);
    trainer_free(trainer);
    workers_stop(workers);
}

static void free_result(Result *result)
{
    transformer_free(&result->model);
    free(result->m);
    free(result->v);
}

static void assert_same_bits(const Result *a, const Result *b)
{
    size_t bytes = a->model.params.size * sizeof(real);
    assert_memory_equal(a->model.block, b->model.block, bytes);
    assert_memory_equal(a->m, b->m, bytes);
    assert_memory_equal(a->v, b->v, bytes);
    assert_true(a->last.loss.nll == b->last.loss.nll);
    assert_true(a->last.gradient_norm == b->last.gradient_norm);
}

static void test_threads_change_no_bit(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result one;
    train(&one, &c, 1, 1, UPDATES, NULL);
    for (int threads = 2; threads <= 6; threads++) {
        Result many;
        train(&many, &c, threads, 1, UPDATES, NULL);
        assert_same_bits(&one, &many);
        free_result(&many);
    }
    free_result(&one);
}

static void test_going_on_changes_no_bit(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result whole, first, second;
    train(&whole, &c, 2, 1, UPDATES, NULL);
    train(&first, &c, 2, 1, 2, NULL);
    train(&second, &c, 3, 3, UPDATES, &first);
    assert_same_bits(&whole, &second);
    free_result(&whole);
    free_result(&first);
    free_result(&second);
}

/* Micro-batches of any size sum to the same gradient, up to rounding: dropout's decisions do not
 * depend on the cut. */
static void test_the_cut_changes_only_rounding(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result fine, coarse;
    train(&fine, &c, 1, 1, 1, NULL);
    c.micro_tokens = 100000;
    train(&coarse, &c, 1, 1, 1, NULL);
    assert_true(fabs(fine.last.loss.nll - coarse.last.loss.nll) < 1e-5 * fine.last.loss.nll);
    assert_true(fabs(fine.last.gradient_norm - coarse.last.gradient_norm) <
                1e-5 * fine.last.gradient_norm);
    free_result(&fine);
    free_result(&coarse);
}

static void test_pad_stays_zero(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result result;
    train(&result, &c, 2, 1, UPDATES, NULL);
    const real *pad = result.model.weights.target_embedding + (V - 1) * SHAPE.d_model;
    for (int k = 0; k < SHAPE.d_model; k++) assert_true(pad[k] == 0);
    assert_true(result.model.weights.logits_bias[V - 1] == 0);
    assert_true(result.model.weights.logits_bias[5] != 0);
    free_result(&result);
}

static void test_a_bias_that_is_not_learned_stays_zero(void **state)
{
    (void)state;
    ModelConfig shape = SHAPE;
    shape.output_bias = false;
    Transformer model;
    Error error;
    Side source, target;
    UpdateStats stats;
    TrainingConfig c = config();
    assert_true(transformer_create(&model, &shape, &error));
    params_initialise(&model.params, model.block, 7);
    Workers *workers = workers_start(1, &error);
    Trainer *trainer = trainer_create(&model, &c, workers, &error);
    make_side(&source, 1);
    make_side(&target, 2);
    for (int u = 1; u <= 3; u++)
        assert_true(trainer_update(trainer, u, &source.packed, &target.packed, &stats, &error));
    for (int i = 0; i < V; i++) assert_true(model.weights.logits_bias[i] == 0);
    trainer_free(trainer);
    workers_stop(workers);
    transformer_free(&model);
}

static void test_training_lowers_the_loss(void **state)
{
    (void)state;
    TrainingConfig c = config();
    c.dropout = c.attention_dropout = c.activation_dropout = 0;
    Transformer model;
    Error error;
    Side source, target;
    UpdateStats stats;
    Loss before, after;
    assert_true(transformer_create(&model, &SHAPE, &error));
    params_initialise(&model.params, model.block, 7);
    Workers *workers = workers_start(2, &error);
    Trainer *trainer = trainer_create(&model, &c, workers, &error);
    make_side(&source, 1);
    make_side(&target, 2);
    assert_true(trainer_evaluate(trainer, &source.packed, &target.packed, &before, &error));
    for (int u = 1; u <= 300; u++)
        assert_true(trainer_update(trainer, u, &source.packed, &target.packed, &stats, &error));
    assert_true(trainer_evaluate(trainer, &source.packed, &target.packed, &after, &error));
    assert_true(before.nll / (double)before.tokens > 2.5);
    assert_true(after.nll / (double)after.tokens < 0.2);  // learned by heart
    trainer_free(trainer);
    workers_stop(workers);
    transformer_free(&model);
}

static void test_not_finite_stops_and_names_the_tensor(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Transformer model;
    Error error;
    Side source, target;
    UpdateStats stats;
    assert_true(transformer_create(&model, &SHAPE, &error));
    params_initialise(&model.params, model.block, 7);
    Workers *workers = workers_start(2, &error);
    Trainer *trainer = trainer_create(&model, &c, workers, &error);
    make_side(&source, 1);
    make_side(&target, 2);
    model.weights.encoder[1].ffn.fc2.W[3] = NAN;
    real first = model.block[0];
    assert_false(trainer_update(trainer, 12, &source.packed, &target.packed, &stats, &error));
    assert_non_null(strstr(error.text, "update 12"));
    assert_non_null(strstr(error.text, "model."));
    assert_true(model.block[0] == first);
    trainer_free(trainer);
    workers_stop(workers);
    transformer_free(&model);
}

static void test_schedule(void **state)
{
    (void)state;
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 50, 100, 0) - 0.05) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 100, 100, 0) - 0.1) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 400, 100, 0) - 0.05) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_COSINE, 0.1, 600, 100, 1100) - 0.05) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_COSINE, 0.1, 1100, 100, 1100)) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_LINEAR, 0.1, 850, 100, 1100) - 0.025) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_CONSTANT, 0.1, 9999, 100, 1100) - 0.1) < 1e-12);
    assert_true(fabs(schedule_rate(SCHEDULE_INVERSE_SQRT, 0.1, 4, 0, 0) - 0.05) < 1e-12);
}

/* The first step of Adam is the rate, whatever the size of the gradient. */
static void test_adam_first_step(void **state)
{
    (void)state;
    real w[3] = {1, 1, 1}, m[3] = {0}, v[3] = {0}, g[3] = {1e-3f, -50, 0};
    AdamStep step = {.rate = 0.1, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .update = 1,
                     .gradient_scale = 1};
    adam_update(w, m, v, g, 3, &step);
    assert_true(fabs(w[0] - 0.9) < 1e-5);
    assert_true(fabs(w[1] - 1.1) < 1e-5);
    assert_true(w[2] == 1);
}

/* A gradient of norm 10 clipped to 1 is the gradient times 0.1. */
static void test_clipping_scales(void **state)
{
    (void)state;
    real a[2] = {1, 1}, ma[2] = {0}, va[2] = {0}, b[2] = {1, 1}, mb[2] = {0}, vb[2] = {0};
    const real g[2] = {6, 8}, clipped[2] = {0.6f, 0.8f};
    AdamStep step = {.rate = 0.1, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .update = 1,
                     .gradient_scale = 0.1};
    adam_update(a, ma, va, g, 2, &step);
    step.gradient_scale = 1;
    adam_update(b, mb, vb, clipped, 2, &step);
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(ma[i] - mb[i]) < 1e-7);
        assert_true(fabs(va[i] - vb[i]) < 1e-7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_going_on_changes_no_bit),
        cmocka_unit_test(test_the_cut_changes_only_rounding),
        cmocka_unit_test(test_pad_stays_zero),
        cmocka_unit_test(test_a_bias_that_is_not_learned_stays_zero),
        cmocka_unit_test(test_training_lowers_the_loss),
        cmocka_unit_test(test_not_finite_stops_and_names_the_tensor),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_adam_first_step),
        cmocka_unit_test(test_clipping_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
