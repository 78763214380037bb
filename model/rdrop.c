/* rdrop.c -- two label-smoothed cross-entropies and the KL divergence between their distributions,
 * over C = V-1 classes; see rdrop.h, and loss.c for a single one.
 *
 *   forward    z = X Eᵀ + bias                              of a row: z, of its copy: z'
 *              p = softmax(z),  q = softmax(z')                   ln p_c = z_c - lse
 *              d_c = ln p_c - ln q_c = (z_c - z'_c) - (lse - lse')
 *              K = KL(p‖q) = Σ_c p_c d_c                          K' = KL(q‖p) = -Σ_c q_c d_c
 *              objective = CE + CE' + a (K + K'),   a = A / 2
 *   backward   ∂K/∂z_k = p_k (d_k - K)         by p (δ - p) of the softmax; Σ p_c ∂d_c/∂z_k = 0
 *              ∂K'/∂z_k = p_k - q_k             as for any cross-entropy against fixed q
 *              dz_k  = scale · (p_k (1 + a (1 + d_k - K))  - a q_k - (1-ε) [k = t] - ε/C)
 *              dz'_k = scale · (q_k (1 + a (1 - d_k - K')) - a p_k - (1-ε) [k = t] - ε/C)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * As in loss.c, E is read in chunks. Both rows of a pair are in the same block, so K is summed chunk
 * by chunk, as lse is: Σ p_c (z_c - z'_c) needs only e^(z - m), m the chunk's largest. Backward
 * reads the logits, which d needs, and e^(m - lse). */
#include "model/rdrop.h"

#include <math.h>

#include "base/real.h"
#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

/* Rows first .. first+pairs-1 of X and their copies, M/2 rows further on. In X they are one piece of
 * 2 · pairs rows if the copies follow directly, else two pieces of `pairs` rows. */
typedef struct PairBlock {
    int first, pairs, half;  // half: M / 2
    int pieces, rows;        // of a piece
} PairBlock;

static PairBlock pairs_at(int first, int M)
{
    int half = M / 2, pairs = at_most(half - first, LOSS_ROWS / 2);
    bool one = pairs == half;
    return (PairBlock){first, pairs, half, one ? 1 : 2, one ? 2 * pairs : pairs};
}

/* Where in X [M,D] piece i begins. */
static size_t piece_at(const PairBlock *block, int i, int D)
{
    return (size_t)(block->first + i * block->half) * (size_t)D;
}

/* The logits of chunk k [2 pairs,width]. */
static real *chunk_logits(const LossBuffers *b, const PairBlock *block, int k)
{
    return b->Z + (size_t)k * LOSS_CLASSES * (size_t)(2 * block->pairs);
}

void rdrop_layout(LossBuffers *buffers, Arena *arena, int M, const OutputLayer *w)
{
    size_t rows = (size_t)at_most(M, LOSS_ROWS), chunks = (size_t)loss_chunks(w->C);
    loss_layout(buffers, arena, M, w, true);
    buffers->weighted = ARENA_TAKE(arena, real, rows * chunks);
    buffers->lse_change = ARENA_TAKE(arena, real, rows / 2);
    buffers->divergence = ARENA_TAKE(arena, real, rows);
}

/* What lse and K need of a chunk's logits z [width] and the copy's. Returns Σ e^(z - m). */
static real chunk_sums(real *largest, real *weighted_sum, double *total, const real *z,
                       const real *copy, int width)
{
    real top = z[0], sum = 0, all = 0, weighted = 0;
#pragma omp simd reduction(max : top) simdlen(16)
    for (int c = 0; c < width; c++) top = z[c] > top ? z[c] : top;
#pragma omp simd reduction(+ : sum, all, weighted) simdlen(16)
    for (int c = 0; c < width; c++) {
        real e = vec_exp(z[c] - top);
        all += z[c];
        sum += e;
        weighted += e * (z[c] - copy[c]);
    }
    *largest = top;
    *weighted_sum = weighted;
    *total += all;
    return sum;
}

/* A row's lse and Σ p_c (z_c - z'_c) from its chunks; their `sum` becomes e^(largest - lse). */
static double row_sums(double *lse, const real *largest, real *sum, const real *chunk_weighted,
                       int chunks)
{
    double top = (double)largest[0], all = 0, weighted = 0;
    for (int k = 1; k < chunks; k++) top = fmax(top, (double)largest[k]);
    for (int k = 0; k < chunks; k++) {
        double e = exp((double)largest[k] - top);
        all += (double)sum[k] * e;
        weighted += (double)chunk_weighted[k] * e;
        sum[k] = (real)e;
    }
    for (int k = 0; k < chunks; k++) sum[k] = (real)((double)sum[k] / all);
    *lse = top + log(all);
    return weighted / all;
}

/* The loss of row n of the block and its copy, row m, and what backward needs of it. */
static void pair_loss(Loss *loss, const LossBuffers *b, int n, int m,
                      const Objective *objective, int C)
{
    int chunks = loss_chunks(C), row[2] = {n, m};
    double smoothing = objective->smoothing, lse[2], weighted[2];
    for (int i = 0; i < 2; i++) {
        size_t at = (size_t)row[i] * (size_t)chunks;
        weighted[i] = row_sums(&lse[i], b->largest + at, b->sum + at, b->weighted + at, chunks);
        double target = (double)b->at_target[row[i]];
        loss->nll += lse[i] - target;
        loss->objective += lse[i] - (1 - smoothing) * target - smoothing / C * b->total[row[i]];
        loss->tokens++;
    }
    // KL(p‖q) and KL(q‖p)
    double change = lse[0] - lse[1], K[2] = {weighted[0] - change, weighted[1] + change};
    loss->objective += objective->r_drop / 2 * (K[0] + K[1]);
    b->lse_change[n] = (real)change;
    for (int i = 0; i < 2; i++) b->divergence[row[i]] = (real)K[i];
}

/* The loss of a block; Z (=) its logits, chunk after chunk. */
static void block_forward(Loss *loss, const PairBlock *block, const real *X,
                          const OutputLayer *w, const Objective *objective,
                          const LossBuffers *b)
{
    int chunks = loss_chunks(w->C), P = block->pairs, rows = 2 * P;
    for (int n = 0; n < rows; n++) b->total[n] = 0;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k);
        size_t width = (size_t)chunk.C;
        real *Z = chunk_logits(b, block, k);
        // z = X Eᵀ + bias
        for (int i = 0; i < block->pieces; i++)
            gemm_nt(SET, Z + (size_t)(i * block->rows) * width, X + piece_at(block, i, w->D),
                    chunk.E, chunk.bias, block->rows, chunk.C, w->D);
        for (int n = 0; n < rows; n++) {
            const real *z = Z + (size_t)n * width;
            const real *copy = Z + (size_t)(n < P ? n + P : n - P) * width;
            int at = n * chunks + k, own;
            own = objective->target[block->first + n % P] - k * LOSS_CLASSES;
            if (own >= 0 && own < chunk.C) b->at_target[n] = z[own];
            b->sum[at] =
                chunk_sums(&b->largest[at], &b->weighted[at], &b->total[n], z, copy, chunk.C);
        }
    }
    for (int n = 0; n < P; n++) pair_loss(loss, b, n, n + P, objective, w->C);
}

void rdrop_forward(Loss *loss, const real *X, const OutputLayer *w, const Objective *objective,
                   const LossBuffers *b, int M)
{
    for (int first = 0; first < M / 2; first += LOSS_ROWS / 2) {
        PairBlock block = pairs_at(first, M);
        block_forward(loss, &block, X, w, objective, b);
    }
}

/* One row of a pair in backward: e^(z - largest) · factor is p, factor = e^(largest - lse). */
typedef struct PairRow {
    real largest, factor, K;
} PairRow;

static PairRow pair_row(const LossBuffers *b, int n, int k, int chunks)
{
    return (PairRow){b->largest[n * chunks + k], b->sum[n * chunks + k], b->divergence[n]};
}

/* z, copy [width] (=) scale · their gradients, without the target's (1-ε). */
static void chunk_backward(real *z, real *copy, PairRow r, PairRow s, real lse_change, real a,
                           real scale, real uniform_share, int width)
{
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) {
        real p = r.factor * vec_exp(z[c] - r.largest),
             q = s.factor * vec_exp(copy[c] - s.largest);
        real d = z[c] - copy[c] - lse_change;
        z[c] = scale * (p * (1 + a * (1 + d - r.K)) - a * q - uniform_share);
        copy[c] = scale * (q * (1 + a * (1 - d - s.K)) - a * p - uniform_share);
    }
}

/* turn: a stage for each chunk, or NULL */
static void block_backward(real *dX, const OutputLayer *dw, Turn *turn, const PairBlock *block,
                           const real *X, const OutputLayer *w, const Objective *objective,
                           const LossBuffers *b)
{
    int chunks = loss_chunks(w->C), P = block->pairs, rows = block->rows, D = w->D;
    double epsilon = objective->smoothing;
    real a = (real)(objective->r_drop / 2), scale = objective->scale;
    real target_share = scale * (real)(1 - epsilon), uniform_share = (real)(epsilon / w->C);
    Repeated repeated[2];
    for (int i = 0; i < block->pieces; i++)
        repeated[i] = gemm_repeated(b->X + (size_t)i * gemm_repeated_size(D, rows),
                                    X + piece_at(block, i, D), D, rows);
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k), dchunk = loss_chunk(dw, k);
        int width = chunk.C;
        real *dZ = chunk_logits(b, block, k);
        for (int n = 0; n < P; n++) {
            real *z = dZ + (size_t)n * (size_t)width, *copy = z + (size_t)P * (size_t)width;
            chunk_backward(z, copy, pair_row(b, n, k, chunks), pair_row(b, n + P, k, chunks),
                           b->lse_change[n], a, scale, uniform_share, width);
            int own = objective->target[block->first + n] - k * LOSS_CLASSES;
            if (own >= 0 && own < width) z[own] -= target_share, copy[own] -= target_share;
        }
        turn_next(turn, 1);
        // dX = dz E          dE += dzᵀ X          dbias += Σ_rows dz
        for (int i = 0; i < block->pieces; i++, dZ += (size_t)rows * (size_t)width) {
            gemm_nn(k == 0 ? SET : ADD, dX + piece_at(block, i, D), dZ, chunk.E, rows, D,
                    width);
            gemm_tn_repeated(ADD, dchunk.E, dZ, &repeated[i], width);
            if (dchunk.bias) bias_backward(dchunk.bias, dZ, rows, width);
        }
    }
}

void rdrop_backward(Loss *loss, real *dX, const OutputLayer *dw, Turn *turn, const real *X,
                    const OutputLayer *w, const Objective *objective, const LossBuffers *b,
                    int M)
{
    turn = loss_turn(turn, M, w->C);
    for (int first = 0; first < M / 2; first += LOSS_ROWS / 2) {
        PairBlock block = pairs_at(first, M);
        block_forward(loss, &block, X, w, objective, b);
        block_backward(dX, dw, turn, &block, X, w, objective, b);
    }
}
