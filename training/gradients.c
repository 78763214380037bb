/* gradients.c -- accumulators, and their sum over threads and ranks; see gradients.h. */
#include "training/gradients.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile.h"
#include "base/real.h"
#include "training/distributed.h"

/* The cut into parts of whole slices. */
static void cut(Gradients *g)
{
    int R = g->tree.ranks, rank = distributed_rank();
    for (int r = 0; r <= R; r++) {
        size_t begin = g->slices * (size_t)r / (size_t)R * SLICE;
        g->part[r] = begin < g->size ? begin : g->size;
    }
    g->own = g->part[rank];
    g->own_end = g->part[rank + 1];
}

/* Where an embedding is the output layer's matrix, its gradients go to g->lookups. */
static bool part_lookups(Gradients *g, const Transformer *model, Error *error)
{
    Weights *w = &g->weights[0];
    if (w->output.at != w->target_embedding.at) return true;
    Params matrix = {.size = (size_t)model->config.vocab * (size_t)model->config.d_model};
    if (!(g->lookups = params_block(&matrix, error))) return false;
    g->matrix = (size_t)(w->output.at - g->block[0]);
    g->count = matrix.size;
    w->target_embedding.at = g->lookups;
    if (w->source_embedding.at == w->output.at) w->source_embedding.at = g->lookups;
    return true;
}

static bool allocate(Gradients *g, const Transformer *model, Error *error)
{
    size_t A = (size_t)g->tree.accumulators, R = (size_t)g->tree.ranks;
    size_t count = (size_t)(g->end - g->first);
    g->block = calloc(count, sizeof *g->block);
    g->weights = calloc(count, sizeof *g->weights);
    g->part = calloc(R + 1, sizeof *g->part);
    g->sends = calloc(R, sizeof *g->sends);
    g->place = calloc(A, sizeof *g->place);
    g->node = calloc(A, sizeof *g->node);
    g->pairs = calloc(A, sizeof *g->pairs);
    g->squares = calloc(g->slices, sizeof *g->squares);
    if (!g->block || !g->weights || !g->part || !g->sends || !g->place || !g->node ||
        !g->pairs || !g->squares)
        return error_set(error, "not enough memory for gradients");
    for (size_t i = 0; i < count; i++) {
        if (!(g->block[i] = params_block(&model->params, error))) return false;
        params_bind(&g->weights[i], g->block[i], &model->config);
    }
    if (R > 1) g->rounds = tree_places(g->place, g->tree, g->tree.accumulators);
    return !g->shared || part_lookups(g, model, error);
}

bool gradients_create(Gradients *g, const Transformer *model, int accumulators, Error *error)
{
    int ranks = distributed_ranks(), rank = distributed_rank();
    *g = (Gradients){
        .tree = {accumulators, ranks}, .shared = accumulators == 1, .size = model->params.size};
    if (ranks > accumulators)
        return error_set(error,
                         "%d ranks are more than the %d accumulator%s of gradients: start "
                         "no more than %d, or a new run with --accumulators %d or more",
                         ranks, accumulators, accumulators > 1 ? "s" : "", accumulators, ranks);
    if (ranks > 1 && g->size > INT_MAX)
        return error_set(error, "a model of more than %d numbers cannot train on several ranks",
                         INT_MAX);
    g->first = tree_first(g->tree, rank);
    g->end = tree_first(g->tree, rank + 1);
    g->slices = (g->size + SLICE - 1) / SLICE;
    if (!allocate(g, model, error)) return false;
    cut(g);
    Params room = {.size = (size_t)g->rounds * (size_t)ranks * (g->own_end - g->own)};
    return !room.size || (g->received = params_block(&room, error));
}

void gradients_free(Gradients *g)
{
    for (int i = 0; g->block && i < g->end - g->first; i++) free(g->block[i]);
    free(g->block);
    free(g->weights);
    free(g->lookups);
    free(g->part);
    free(g->received);
    free(g->sends);
    free(g->place);
    free(g->node);
    free(g->pairs);
    free(g->squares);
    *g = (Gradients){0};
}

size_t gradients_memory(const Gradients *g)
{
    size_t own = g->own_end - g->own;
    return sizeof(real) * (g->size * (size_t)(g->end - g->first) +
                           own * (size_t)g->rounds * (size_t)g->tree.ranks + g->count);
}

bool gradients_has(const Gradients *g, int a)
{
    return a >= g->first && a < g->end;
}

Weights *gradients_weights(const Gradients *g, int a)
{
    return &g->weights[a - g->first];
}

static void clear(void *context, size_t begin, size_t count)
{
    memset((real *)context + begin, 0, count * sizeof(real));
}

void gradients_clear(const Gradients *g, int used, Workers *workers)
{
    for (int a = g->first; a < at_most(g->end, used); a++)
        slices_run(workers, 0, g->size, clear, g->block[a - g->first]);
    slices_run(workers, 0, g->count, clear, g->lookups);
}

const real *gradients_from(const Gradients *g, size_t begin)
{
    return g->node[0] + (begin - g->own);
}

static void add(real *sum, const real *other, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) sum[i] += other[i];
}

/* (a) */
static void sum_local(void *context, size_t begin, size_t count)
{
    const Gradients *g = context;
    for (int p = 0; p < g->pair_count; p++)
        add(g->block[g->pairs[p].left - g->first] + begin,
            g->block[g->pairs[p].right - g->first] + begin, count);
}

/* (b): in round 0 every rank's first root, in round 1 the second of those that have two, …. */
static bool exchange(Gradients *g, int used, Error *error)
{
    int ranks = g->tree.ranks, rank = distributed_rank();
    size_t own = g->own_end - g->own;
    tree_places(g->place, g->tree, used);
    for (int a = 0; a < g->tree.accumulators; a++)
        g->node[a] = gradients_has(g, a) ? g->block[a - g->first] + g->own : NULL;
    for (int round = 0; round < g->rounds; round++) {
        real *received = g->received ? g->received + (size_t)round * (size_t)ranks * own : NULL;
        const real *block = NULL;
        memset(g->sends, 0, (size_t)ranks * sizeof *g->sends);
        for (int a = 0; a < used; a++) {
            int from = tree_rank(g->tree, a);
            if (g->place[a] != round) continue;
            g->sends[from] = true;
            if (from == rank) block = g->block[a - g->first];
            else if (received) g->node[a] = received + (size_t)from * own;
        }
        if (!distributed_exchange(received, block, g->sends, g->part, error)) return false;
    }
    return true;
}

/* Numbers begin .. end-1 of the block take up what looking up rows adds to them. */
static void add_lookups(const Gradients *g, size_t begin, size_t end)
{
    if (begin < g->matrix) begin = g->matrix;
    if (end > g->matrix + g->count) end = g->matrix + g->count;
    if (begin < end) add(g->block[0] + begin, g->lookups + (begin - g->matrix), end - begin);
}

/* (c) */
static void sum_own(void *context, size_t begin, size_t count)
{
    const Gradients *g = context;
    size_t at = begin - g->own;
    for (int p = 0; p < g->pair_count; p++)
        add(g->node[g->pairs[p].left] + at, g->node[g->pairs[p].right] + at, count);
    if (g->lookups) add_lookups(g, begin, begin + count);
    const real *sum = g->node[0] + at;
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < count; i++) squares += (double)sum[i] * (double)sum[i];
    g->squares[begin / SLICE] = squares;
}

/* *norm (=) the root of the squares of all slices, of which each rank has its own. */
static bool norm_of_slices(Gradients *g, double *norm, Error *error)
{
    double squares = 0;
    if (!distributed_sum(g->squares, g->slices, error)) return false;
    for (size_t s = 0; s < g->slices; s++) squares += g->squares[s];
    *norm = sqrt(squares);
    return true;
}

bool gradients_sum(Gradients *g, double *norm, int used, Workers *workers, Error *error)
{
    int rank = distributed_rank();
    g->pair_count = tree_pairs(g->pairs, g->tree, used, rank, false);
    slices_run(workers, 0, g->own, sum_local, g);  // (a)
    slices_run(workers, g->own_end, g->size, sum_local, g);
    ProfilePart before = profile_enter(PROFILE_WAITING);
    bool good = exchange(g, used, error);  // (b)
    profile_leave(before);
    if (!good) return false;
    memset(g->squares, 0, g->slices * sizeof *g->squares);
    g->pair_count = tree_pairs(g->pairs, g->tree, used, rank, true);
    slices_run(workers, g->own, g->own_end, sum_own, g);  // (c)
    return norm_of_slices(g, norm, error);
}

bool gradients_tensor_norm(Gradients *g, double *norm, const Tensor *tensor, Error *error)
{
    size_t begin = tensor->offset, end = begin + tensor->count;
    if (begin < g->own) begin = g->own;
    if (end > g->own_end) end = g->own_end;
    memset(g->squares, 0, g->slices * sizeof *g->squares);
    for (size_t i = begin; i < end; i++) {
        double x = (double)*gradients_from(g, i);
        g->squares[i / SLICE] += x * x;
    }
    return norm_of_slices(g, norm, error);
}

bool gradients_not_finite(const Gradients *g, int *tensor, const Params *params, Error *error)
{
    for (*tensor = 0; *tensor < params->count; ++*tensor) {
        const Tensor *line = &params->tensor[*tensor];
        size_t begin = line->offset, end = begin + line->count;
        if (begin < g->own) begin = g->own;
        if (end > g->own_end) end = g->own_end;
        for (; begin < end; begin++)
            if (!isfinite(*gradients_from(g, begin))) return distributed_least(tensor, error);
    }
    return distributed_least(tensor, error);
}
