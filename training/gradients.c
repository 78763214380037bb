/* gradients.c -- accumulators, and their sum over threads and ranks; see gradients.h. */
#include "training/gradients.h"

#include "base/block.h"
#include "base/real.h"
#include "training/distributed.h"

/* ---- slices ---- */

typedef struct SliceLoop {
    size_t begin, end;
    SliceWork *work;
    void *context;
} SliceLoop;

static bool run_slice(void *context, size_t slice, int worker, Error *error)
{
    (void)worker, (void)error;
    const SliceLoop *loop = context;
    size_t begin = loop->begin + slice * SLICE, left = loop->end - begin;
    loop->work(loop->context, begin, left < SLICE ? left : SLICE);
    return true;
}

void slices_run(Workers *workers, size_t begin, size_t end, SliceWork *work, void *context)
{
    if (begin >= end) return;
    SliceLoop loop = {begin, end, work, context};
    workers_each(workers, (end - begin + SLICE - 1) / SLICE, run_slice, &loop, NULL);
}

Range range_common(Range a, Range b)
{
    return (Range){a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

Range range_of(const Tensor *tensor)
{
    return (Range){tensor->offset, tensor->offset + tensor->count};
}

/* range (=) the next numbers from range->end to `end` that are in no frozen tensor and in no
 * copy of another; false if there are none. */
static bool range_trained(Range *range, size_t end, const Params *params)
{
    *range = (Range){range->end, end};
    for (const Tensor *t = params->tensor; t < params->tensor + params->count; t++) {
        Range frozen = range_common(range_of(t), *range);
        if (!(t->frozen || t->copy) || frozen.begin >= frozen.end) continue;
        if (frozen.begin == range->begin) range->begin = frozen.end;
        else range->end = frozen.begin;
    }
    return range->begin < range->end;
}

/* ---- accumulators ---- */

static size_t own_size(const Gradients *g)
{
    return g->own.end - g->own.begin;
}

/* Divides the accumulators into whole subtrees, and the block into parts of whole slices. */
static void divide(Gradients *g)
{
    int A = g->accumulators, R = distributed.ranks, rank = distributed.rank;
    for (g->share = 1; (long long)g->share * R < A;) g->share *= 2;
    g->first = at_most(rank * g->share, A);
    g->end = at_most(g->first + g->share, A);
    for (int r = 0; r <= R; r++) {
        size_t begin = g->slices * (size_t)r / (size_t)R * SLICE;
        g->part[r] = begin < g->params->size ? begin : g->params->size;
    }
    g->own = (Range){g->part[rank], g->part[rank + 1]};
}

/* How many of the accumulators 0 .. used-1 this rank has. */
static int own_used(const Gradients *g, int used)
{
    return at_most(g->end, used) > g->first ? at_most(g->end, used) - g->first : 0;
}

/* A rank without accumulators has a block for gradients_allgather. */
static int blocks(const Gradients *g)
{
    return g->end > g->first ? g->end - g->first : 1;
}

bool gradients_create(Gradients *g, const Transformer *model, int accumulators, Error *error)
{
    int ranks = distributed.ranks;
    *g = (Gradients){.accumulators = accumulators,
                     .params = &model->params,
                     .slices = (model->params.size + SLICE - 1) / SLICE};
    if (ranks > accumulators)
        return error_set(error,
                         "%d ranks are more than the %d accumulators of gradients: start "
                         "no more than %d, or a new run with `accumulators` %d or more",
                         ranks, accumulators, accumulators, ranks);
    if (ranks > 1 && g->params->size > INT_MAX)
        return error_set(error, "a model of more than %d numbers cannot train on several ranks",
                         INT_MAX);
    divide(g);
    g->weights = calloc((size_t)blocks(g), sizeof *g->weights);
    g->squares = calloc(g->slices, sizeof *g->squares);
    if (!g->weights || !g->squares) return error_memory(error, "for gradients");
    for (int i = 0; i < blocks(g); i++) {
        if (!(g->block[i] = block_zeros(g->params->size * sizeof(real), error))) return false;
        params_bind(&g->weights[i], g->block[i], &model->config);
    }
    size_t received = (size_t)ranks * own_size(g) * sizeof(real);
    return ranks == 1 || (g->received = block_zeros(received, error));
}

void gradients_free(Gradients *g)
{
    for (int i = 0; i < blocks(g); i++) free(g->block[i]);
    free(g->weights);
    free(g->squares);
    free(g->received);
    *g = (Gradients){0};
}

static void clear(void *context, size_t begin, size_t count)
{
    memset((real *)context + begin, 0, count * sizeof(real));
}

void gradients_clear(const Gradients *g, int used, Workers *workers)
{
    for (int i = 0; i < own_used(g, used); i++)
        slices_run(workers, 0, g->params->size, clear, g->block[i]);
}

/* ---- their sum ---- */

real *gradients_from(const Gradients *g, size_t begin)
{
    return g->node[0] + begin - g->own.begin;
}

/* Into the rank's first block, which the sum has used up. */
bool gradients_allgather(Gradients *g, Error *error)
{
    real *own = g->block[0] + g->own.begin;
    if (g->node[0] != own) memcpy(own, g->node[0], own_size(g) * sizeof *own);
    g->node[0] = own;
    return distributed_allgather(g->block[0], g->part, error);
}

/* node[0] (=) the sum of node [count], numbers begin .. begin+numbers-1 of each */
static void sum_tree(real *const *node, int count, size_t begin, size_t numbers)
{
    for (int step = 1; step < count; step *= 2)
        for (int a = 0; a + step < count; a += 2 * step) {
            real *sum = node[a] + begin, *other = node[a + step] + begin;
#pragma omp simd
            for (size_t i = 0; i < numbers; i++) sum[i] += other[i];
        }
}

/* (a) */
static void sum_local(void *context, size_t begin, size_t count)
{
    const Gradients *g = context;
    sum_tree(g->block, own_used(g, g->used), begin, count);
}

/* How many ranks have a sum. */
static int senders(const Gradients *g)
{
    return (g->used + g->share - 1) / g->share;
}

/* (a) and (c) */
static void sum_own(void *context, size_t begin, size_t count)
{
    const Gradients *g = context;
    size_t at = begin - g->own.begin;
    sum_local(context, begin, count);
    sum_tree(g->node, senders(g), at, count);
    const real *sum = g->node[0] + at;
    double squares = 0;
    for (Range r = {begin, begin}; range_trained(&r, begin + count, g->params);)
#pragma omp simd reduction(+ : squares)
        for (size_t i = r.begin - begin; i < r.end - begin; i++)
            squares += (double)sum[i] * (double)sum[i];
    g->squares[begin / SLICE] = squares;
}

bool gradients_sum(Gradients *g, double *norm, int used, Workers *workers, Error *error)
{
    int rank = distributed.rank;
    g->used = used;
    for (int i = 0; i < own_used(g, used); i++) params_share(g->params, g->block[i]);
    slices_run(workers, 0, g->own.begin, sum_local, g);  // (a)
    slices_run(workers, g->own.end, g->params->size, sum_local, g);
    for (int r = 0; r < distributed.ranks; r++)
        g->node[r] =
            r == rank ? g->block[0] + g->own.begin : g->received + (size_t)r * own_size(g);
    if (!distributed_exchange(g->received, g->block[0], senders(g), g->part, error))  // (b)
        return false;
    memset(g->squares, 0, g->slices * sizeof *g->squares);
    slices_run(workers, g->own.begin, g->own.end, sum_own, g);  // (c)
    // each rank has the squares of its own part
    double squares = 0;
    if (!distributed_sum(g->squares, g->slices, error)) return false;
    for (size_t s = 0; s < g->slices; s++) squares += g->squares[s];
    *norm = sqrt(squares);
    return true;
}

bool gradients_not_finite(const Gradients *g, int *tensor, Error *error)
{
    const Params *params = g->params;
    for (*tensor = 0; *tensor < params->count; ++*tensor) {
        Range own = range_common(range_of(&params->tensor[*tensor]), g->own);
        for (size_t i = own.begin; i < own.end; i++)
            if (!isfinite(*gradients_from(g, i))) return distributed_least(tensor, error);
    }
    return distributed_least(tensor, error);
}
