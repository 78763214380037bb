/* lesson.h -- a small network in training on random sentences, for the tests of the trainer. */
#ifndef TESTS_LESSON_H
#define TESTS_LESSON_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "training/trainer.h"

enum { S = 23, LONGEST = 9, V = 31, UPDATES = 5 };

static const ModelConfig SHAPE = {.vocab = V,
                                  .d_model = 24,
                                  .heads = 3,
                                  .ffn = 40,
                                  .encoder_layers = 2,
                                  .decoder_layers = 2,
                                  .max_length = 16,
                                  .output_bias = true};

/* One side of a batch: S sentences of 1 .. LONGEST tokens. */
typedef struct Side {
    int id[S * LONGEST], start[S + 1];
    Packed packed;
} Side;

static inline void make_side(Side *side, uint64_t seed)
{
    Rng rng = rng_stream(seed, RNG_TEST, 0);
    side->start[0] = 0;
    for (int s = 0; s < S; s++) {
        int length = 1 + (int)rng_below(&rng, LONGEST), at = side->start[s];
        for (int i = 0; i < length - 1; i++) side->id[at + i] = 2 + (int)rng_below(&rng, V - 3);
        side->id[at + length - 1] = ID_END;
        side->start[s + 1] = at + length;
    }
    side->packed = (Packed){S, side->start[S], side->id, side->start};
}

static inline TrainingConfig config(void)
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

/* A network in training on one pair of sides, to look into. */
typedef struct Lesson {
    TrainingConfig config;
    Transformer model;
    Workers *workers;
    Trainer *trainer;
    Side source, target;
    UpdateStats stats;
    Error error;
} Lesson;

static inline void begin_lesson(Lesson *l, const ModelConfig *shape, const TrainingConfig *c,
                                int threads)
{
    l->config = *c;
    assert_true(transformer_create(&l->model, shape, &l->error));
    params_initialise(&l->model.params, l->model.block, 7);
    l->workers = workers_start(threads, &l->error);
    l->trainer = trainer_create(&l->model, &l->config, l->workers, &l->error);
    assert_non_null(l->trainer);
    make_side(&l->source, 1);
    make_side(&l->target, 2);
}

static inline bool take_lesson(Lesson *l, long long update)
{
    return trainer_update(l->trainer, update, &l->source.packed, &l->target.packed, &l->stats,
                          &l->error);
}

static inline void end_lesson(Lesson *l)
{
    trainer_free(l->trainer);
    workers_stop(l->workers);
    transformer_free(&l->model);
}

/* What a training leaves: weights and moments, compared byte by byte. */
typedef struct Result {
    Transformer model;
    real *m, *v, *ema;
    UpdateStats last;
    double norm[100];  // of the last gradient, tensor by tensor
} Result;

static inline real *copy_of(const real *block, size_t bytes)
{
    return memcpy(malloc(bytes), block, bytes);
}

/* Updates from .. to, each on sentences of its own; from the beginning, or from where one ended. */
static inline void train(Result *result, const TrainingConfig *c, int threads, int from, int to,
                         const Result *before)
{
    Lesson l;
    begin_lesson(&l, &SHAPE, c, threads);
    const Params *params = &l.model.params;
    size_t bytes = params->size * sizeof(real);
    memcpy(trainer_ema(l.trainer), before ? before->ema : l.model.block, bytes);
    if (before) {
        memcpy(l.model.block, before->model.block, bytes);
        memcpy(trainer_m(l.trainer), before->m, bytes);
        memcpy(trainer_v(l.trainer), before->v, bytes);
    }
    for (int u = from; u <= to; u++) {
        make_side(&l.source, (uint64_t)u);
        make_side(&l.target, (uint64_t)u + 100);
        assert_true(take_lesson(&l, u));
        assert_int_equal(l.stats.loss.tokens, l.target.packed.rows);
    }
    assert_in_range(params->count, 1, 100);
    for (int t = 0; t < params->count; t++)
        assert_true(
            trainer_gradient_norm(l.trainer, &result->norm[t], &params->tensor[t], &l.error));
    result->m = copy_of(trainer_m(l.trainer), bytes);
    result->v = copy_of(trainer_v(l.trainer), bytes);
    result->ema = copy_of(trainer_ema(l.trainer), bytes);
    result->last = l.stats;
    trainer_free(l.trainer);
    workers_stop(l.workers);
    result->model = l.model;
}

static inline void assert_near(double a, double b, double relative)
{
    assert_true(fabs(a - b) < relative * fabs(a));
}

static inline void free_result(Result *result)
{
    transformer_free(&result->model);
    free(result->m);
    free(result->v);
    free(result->ema);
}

static inline void assert_same_bits(const Result *a, const Result *b)
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

#endif
