/* trainer.c -- updates: the same bits for any number of threads, the sum of micro-batches, the
 * schedule, and what happens to a gradient that is not finite. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
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
    c.ema = 0.9;
    c.dropout = 0.2;
    c.attention_dropout = 0.1;
    c.activation_dropout = 0.1;
    return c;
}

/* What a training leaves: weights and moments, compared byte by byte. */
typedef struct Result {
    Transformer model;
    real *m, *v, *ema;
    UpdateStats last;
    double norm[100];  // of the last gradient, tensor by tensor
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
        memcpy(trainer_ema(trainer), before->ema, bytes);
    } else {
        params_initialise(&result->model.params, result->model.block, 7);
        memcpy(trainer_ema(trainer), result->model.block, bytes);
    }
    for (int u = from; u <= to; u++) {
        make_side(&source, (uint64_t)u);
        make_side(&target, (uint64_t)u + 100);
        assert_true(trainer_update(trainer, u, &source.packed, &target.packed, &result->last,
                                   &error));
        assert_int_equal(result->last.loss.tokens, target.packed.rows);
    }
    assert_in_range(result->model.params.count, 1, 100);
    for (int t = 0; t < result->model.params.count; t++)
        assert_true(trainer_gradient_norm(trainer, &result->norm[t],
                                          &result->model.params.tensor[t], &error));
    result->m = malloc(bytes);
    result->v = malloc(bytes);
    memcpy(result->m, trainer_m(trainer), bytes);
    memcpy(result->v, trainer_v(trainer), bytes);
    result->ema = malloc(bytes);
    memcpy(result->ema, trainer_ema(trainer), bytes);
    trainer_free(trainer);
    workers_stop(workers);
}

static void free_result(Result *result)
{
    transformer_free(&result->model);
    free(result->m);
    free(result->v);
    free(result->ema);
}

static void assert_same_bits(const Result *a, const Result *b)
{
    size_t bytes = a->model.params.size * sizeof(real);
    assert_memory_equal(a->model.block, b->model.block, bytes);
    assert_memory_equal(a->m, b->m, bytes);
    assert_memory_equal(a->v, b->v, bytes);
    assert_memory_equal(a->ema, b->ema, bytes);
    assert_true(a->last.loss.nll == b->last.loss.nll);
    assert_true(a->last.gradient_norm == b->last.gradient_norm);
    for (int t = 0; t < a->model.params.count; t++) assert_true(a->norm[t] == b->norm[t]);
}

static void test_norms_of_tensors_make_the_norm(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result result;
    double squares = 0;
    train(&result, &c, 2, 1, UPDATES, NULL);
    for (int t = 0; t < result.model.params.count; t++) {
        squares += result.norm[t] * result.norm[t];
        assert_true(result.norm[t] > 0 || !result.model.params.tensor[t].trained);
    }
    assert_true(fabs(sqrt(squares) / result.last.gradient_norm - 1) < 1e-12);
    free_result(&result);
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

/* The moving average follows from the weights after every update, by its formula in double; and
 * no weight from the average. */
static void test_moving_average(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result after[UPDATES], without;
    c.ema = 0.3;  // the warm-up has it from update 3 on
    for (int u = 0; u < UPDATES; u++) train(&after[u], &c, 2, 1, u + 1, NULL);
    Transformer *model = &after[0].model;
    size_t size = model->params.size;
    double *ema = malloc(size * sizeof *ema);
    real *first = malloc(size * sizeof *first);
    params_initialise(&model->params, first, 7);
    double moved = 0;
    for (size_t t = 0; t < (size_t)model->params.count; t++) {
        const Tensor *tensor = &model->params.tensor[t];
        for (size_t i = tensor->offset; i < tensor->offset + tensor->count; i++) {
            ema[i] = (double)first[i];
            for (int u = 1; u <= UPDATES; u++) {
                double decay = fmin(0.3, (1.0 + u) / (10.0 + u));
                ema[i] = decay * ema[i] + (1 - decay) * (double)after[u - 1].model.block[i];
            }
            double is = (double)after[UPDATES - 1].ema[i];
            assert_true(fabs(is - ema[i]) < 1e-6);
            moved = fmax(moved, fabs(is - (double)after[UPDATES - 1].model.block[i]));
        }
    }
    assert_true(moved > 1e-3);
    c.ema = 0.99;
    train(&without, &c, 1, 1, UPDATES, NULL);
    assert_memory_equal(without.model.block, after[UPDATES - 1].model.block,
                        size * sizeof(real));
    for (int u = 0; u < UPDATES; u++) free_result(&after[u]);
    free_result(&without);
    free(ema);
    free(first);
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

/* R-Drop, too, has the same bits for any threads and when it goes on, and with another cut up
 * to rounding; its evaluation is what it was. */
static void test_r_drop_changes_no_bit(void **state)
{
    (void)state;
    TrainingConfig c = config();
    Result one, many, first, fine, coarse;
    c.r_drop = 5;
    train(&one, &c, 1, 1, UPDATES, NULL);
    train(&many, &c, 3, 1, UPDATES, NULL);
    assert_same_bits(&one, &many);
    free_result(&many);
    train(&first, &c, 2, 1, 2, NULL);
    train(&many, &c, 2, 3, UPDATES, &first);
    assert_same_bits(&one, &many);
    train(&fine, &c, 1, 1, 1, NULL);
    c.micro_tokens = 100000;
    train(&coarse, &c, 1, 1, 1, NULL);
    assert_true(fabs(fine.last.loss.objective - coarse.last.loss.objective) <
                1e-5 * fine.last.loss.objective);
    assert_true(fabs(fine.last.gradient_norm - coarse.last.gradient_norm) <
                1e-5 * fine.last.gradient_norm);
    Result *all[] = {&one, &many, &first, &fine, &coarse};
    for (int i = 0; i < 5; i++) free_result(all[i]);
}

/* Without dropout both copies are the same, and an update is the one without R-Drop; with it,
 * the divergence costs something, and what is reported is per target token of the corpus. */
static void test_r_drop_without_dropout(void **state)
{
    (void)state;
    TrainingConfig c = config(), still = config();
    Result plain, twice, apart, weightless;
    still.dropout = still.attention_dropout = still.activation_dropout = 0;
    train(&plain, &still, 1, 1, 1, NULL);
    still.r_drop = 5;
    train(&twice, &still, 1, 1, 1, NULL);
    assert_true(fabs(plain.last.loss.nll - twice.last.loss.nll) < 1e-5 * plain.last.loss.nll);
    assert_true(fabs(plain.last.loss.objective - twice.last.loss.objective) <
                1e-5 * plain.last.loss.objective);
    assert_true(fabs(plain.last.gradient_norm - twice.last.gradient_norm) <
                1e-4 * plain.last.gradient_norm);
    assert_int_equal(plain.last.loss.tokens, twice.last.loss.tokens);
    assert_int_equal(plain.last.tokens, twice.last.tokens);
    assert_true(2 * plain.last.flops == twice.last.flops);
    c.r_drop = 1e-9;
    train(&weightless, &c, 1, 1, 1, NULL);
    c.r_drop = 5;
    train(&apart, &c, 1, 1, 1, NULL);
    assert_true(apart.last.loss.nll == weightless.last.loss.nll);
    assert_true(apart.last.loss.objective > weightless.last.loss.objective + 0.1);
    Result *all[] = {&plain, &twice, &apart, &weightless};
    for (int i = 0; i < 4; i++) free_result(all[i]);
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
    assert_non_null(strstr(error.text, "a --learning-rate below 0.01, a --warmup above 3 or a "
                                       "--clip-norm below 1"));
    assert_true(stats.not_finite);
    assert_int_equal(stats.suspect, 0);
    assert_true(model.block[0] == first);
    trainer_free(trainer);
    workers_stop(workers);
    transformer_free(&model);
}

/* One sentence is longer than all others, and its last position is not a number: the
 * micro-batch that is named begins with it or shortly before. */
static void test_not_finite_names_the_sentence(void **state)
{
    (void)state;
    enum { BAD = 17, LENGTH = LONGEST + 3 };
    TrainingConfig c = config();
    c.micro_tokens = 1;  // nearly a sentence each
    Transformer model;
    Error error;
    Side source, target;
    UpdateStats stats;
    assert_true(transformer_create(&model, &SHAPE, &error));
    params_initialise(&model.params, model.block, 7);
    Workers *workers = workers_start(3, &error);
    Trainer *trainer = trainer_create(&model, &c, workers, &error);
    make_side(&source, 1);
    make_side(&target, 2);
    model.sinusoids[(LENGTH - 1) * SHAPE.d_model] = NAN;
    assert_true(trainer_update(trainer, 1, &source.packed, &target.packed, &stats, &error));
    assert_false(stats.not_finite);

    int *end = &source.start[BAD + 1], more = LENGTH - (*end - source.start[BAD]);
    int rows = source.start[S];
    assert_true(rows + more <= S * LONGEST);
    memmove(source.id + *end + more, source.id + *end,
            (size_t)(rows - *end) * sizeof *source.id);
    for (int i = *end - 1; i < *end + more - 1; i++) source.id[i] = 2;
    source.id[*end + more - 1] = ID_END;
    for (int s = BAD + 1; s <= S; s++) source.start[s] += more;
    source.packed.rows += more;
    assert_false(trainer_update(trainer, 2, &source.packed, &target.packed, &stats, &error));
    assert_true(stats.not_finite);
    assert_in_range(stats.suspect, BAD - 3, BAD);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_going_on_changes_no_bit),
        cmocka_unit_test(test_moving_average),
        cmocka_unit_test(test_norms_of_tensors_make_the_norm),
        cmocka_unit_test(test_the_cut_changes_only_rounding),
        cmocka_unit_test(test_r_drop_changes_no_bit),
        cmocka_unit_test(test_r_drop_without_dropout),
        cmocka_unit_test(test_pad_stays_zero),
        cmocka_unit_test(test_a_bias_that_is_not_learned_stays_zero),
        cmocka_unit_test(test_training_lowers_the_loss),
        cmocka_unit_test(test_not_finite_stops_and_names_the_tensor),
        cmocka_unit_test(test_not_finite_names_the_sentence),
        cmocka_unit_test(test_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
