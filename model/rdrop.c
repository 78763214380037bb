/* rdrop.c -- two label-smoothed cross-entropies and the divergence between them, over C = V-1
 * classes; see rdrop.h, and loss.c for one without a twin.
 *
 *   forward    z = X Eᵀ + bias                              of a row and of its twin: z, z'
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
 * As in loss.c, E is read in chunks. Both rows of a pair are in the same block, so K can be
 * summed chunk by chunk, as lse is: Σ p_c (z_c - z'_c) needs no more than e^(z - m), m the
 * chunk's largest. What is kept for backward are the scores themselves, since d needs them, and
 * e^(m - lse). */
#include "model/rdrop.h"

#include <math.h>

#include "base/real.h"
#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

/* A block: `pairs` rows from row `first` on, and their twins, M/2 below. In X they lie in pieces
 * of `rows` rows each: in one, if the twins follow at once. */
typedef struct Block {
    int first, pairs, half, C, D;
    int pieces, rows;
} Block;

static Block block_at(int first, int M, int V, int D)
{
    int half = M / 2, pairs = at_most(half - first, LOSS_ROWS / 2);
    bool one = pairs == half;
    return (Block){first, pairs, half, V - 1, D, one ? 1 : 2, one ? 2 * pairs : pairs};
}

/* Where in X piece i begins. */
static size_t piece_at(const Block *block, int i)
{
    return (size_t)(block->first + i * block->half) * (size_t)block->D;
}

void rdrop_layout(RDropBuffers *buffers, Arena *arena, int M, int V, int D)
{
    size_t rows = (size_t)at_most(M, LOSS_ROWS), chunks = (size_t)loss_chunks(V - 1);
    loss_layout(&buffers->loss, arena, M, V, D, true);
    buffers->apart = ARENA_TAKE(arena, real, rows * chunks);
    buffers->between = ARENA_TAKE(arena, real, rows / 2);
    buffers->divergence = ARENA_TAKE(arena, real, rows);
}

/* Z [2 pairs,width] (=) scores of a chunk of classes: of the rows, then of their twins. */
static void scores(real *Z, const Block *block, const real *X, const real *E, const real *bias,
                   int width)
{
    for (int i = 0; i < block->pieces; i++, Z += (size_t)block->rows * (size_t)width)
        gemm_nt(SET, Z, X + piece_at(block, i), E, bias, block->rows, width, block->D);
}

/* What lse and K need of a chunk's scores z [width], with the twin's. Returns Σ e^(z - m). */
static real chunk_sums(real *largest, real *apart, double *total, const real *z,
                       const real *twin, int width)
{
    real top = z[0], sum = 0, all = 0, weighted = 0;
#pragma omp simd reduction(max : top) simdlen(16)
    for (int c = 0; c < width; c++) top = z[c] > top ? z[c] : top;
#pragma omp simd reduction(+ : sum, all, weighted) simdlen(16)
    for (int c = 0; c < width; c++) {
        real e = vec_exp(z[c] - top);
        all += z[c];
        sum += e;
        weighted += e * (z[c] - twin[c]);
    }
    *largest = top;
    *apart = weighted;
    *total += all;
    return sum;
}

/* A row's lse and Σ p_c (z_c - z'_c) from its chunks; their `sum` becomes e^(largest - lse). */
static double row_sums(double *lse, const real *largest, real *sum, const real *apart,
                       int chunks)
{
    double top = (double)largest[0], all = 0, weighted = 0;
    for (int k = 1; k < chunks; k++) top = fmax(top, (double)largest[k]);
    for (int k = 0; k < chunks; k++) {
        double e = exp((double)largest[k] - top);
        all += (double)sum[k] * e;
        weighted += (double)apart[k] * e;
        sum[k] = (real)e;
    }
    for (int k = 0; k < chunks; k++) sum[k] = (real)((double)sum[k] / all);
    *lse = top + log(all);
    return weighted / all;
}

/* The loss of a pair of rows n and m of the block, and what backward needs of it. */
static void pair_loss(Loss *loss, const RDropBuffers *b, int n, int m, double smoothing,
                      double A, int C)
{
    const LossBuffers *l = &b->loss;
    int chunks = loss_chunks(C), row[2] = {n, m};
    double lse[2], apart[2];
    for (int i = 0; i < 2; i++) {
        size_t at = (size_t)row[i] * (size_t)chunks;
        apart[i] = row_sums(&lse[i], l->largest + at, l->sum + at, b->apart + at, chunks);
        double target = (double)l->at_target[row[i]];
        loss->nll += lse[i] - target;
        loss->objective += lse[i] - (1 - smoothing) * target - smoothing / C * l->total[row[i]];
        loss->tokens++;
    }
    double between = lse[0] - lse[1], K[2] = {apart[0] - between, apart[1] + between};
    loss->objective += A / 2 * (K[0] + K[1]);
    b->between[n] = (real)between;
    for (int i = 0; i < 2; i++) b->divergence[row[i]] = (real)K[i];
}

/* The loss of a block; Z (=) its scores, chunk after chunk. */
static void block_forward(Loss *loss, const Block *block, const RDropBuffers *b, const real *X,
                          const real *E, const real *bias, const int *target, double smoothing,
                          double A)
{
    const LossBuffers *l = &b->loss;
    int C = block->C, chunks = loss_chunks(C), P = block->pairs, rows = 2 * P;
    for (int n = 0; n < rows; n++) l->total[n] = 0;
    for (int k = 0, first = 0; k < chunks; k++, first += LOSS_CLASSES) {
        int width = at_most(C - first, LOSS_CLASSES);
        real *Z = l->Z + (size_t)first * (size_t)rows;
        scores(Z, block, X, E + (size_t)first * (size_t)block->D, bias + first, width);
        for (int n = 0; n < rows; n++) {
            const real *z = Z + (size_t)n * (size_t)width;
            const real *twin = Z + (size_t)(n < P ? n + P : n - P) * (size_t)width;
            int own = target[block->first + n % P] - first;
            if (own >= 0 && own < width) l->at_target[n] = z[own];
            l->sum[n * chunks + k] =
                chunk_sums(&l->largest[n * chunks + k], &b->apart[n * chunks + k], &l->total[n],
                           z, twin, width);
        }
    }
    for (int n = 0; n < P; n++) pair_loss(loss, b, n, n + P, smoothing, A, C);
}

void rdrop_forward(Loss *loss, const real *X, const real *E, const real *bias,
                   const int *target, double smoothing, double A, const RDropBuffers *b, int M,
                   int V, int D)
{
    for (int first = 0; first < M / 2; first += LOSS_ROWS / 2) {
        Block block = block_at(first, M, V, D);
        block_forward(loss, &block, b, X, E, bias, target, smoothing, A);
    }
}

/* One side of a pair in backward: e^(z - m) is p by its factor e^(m - lse). */
typedef struct Side {
    real largest, factor, K;
} Side;

/* z, twin [width] (=) scale · their gradients, but for the target's own share. */
static void chunk_backward(real *z, real *twin, Side s, Side t, real between, real a,
                           real scale, real others, int width)
{
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) {
        real p = s.factor * vec_exp(z[c] - s.largest),
             q = t.factor * vec_exp(twin[c] - t.largest);
        real d = z[c] - twin[c] - between;
        z[c] = scale * (p * (1 + a * (1 + d - s.K)) - a * q - others);
        twin[c] = scale * (q * (1 + a * (1 - d - t.K)) - a * p - others);
    }
}

/* dX of the block (mode: SET or ADD), dE, dbias from dZ [2 pairs,width]. repeated: its pieces */
static void products(GemmMode mode, real *dX, real *dE, real *dbias, const Block *block,
                     const real *dZ, const Repeated repeated[2], const real *E, int width)
{
    int rows = block->rows;
    for (int i = 0; i < block->pieces; i++, dZ += (size_t)rows * (size_t)width) {
        gemm_nn(mode, dX + piece_at(block, i), dZ, E, rows, block->D, width);
        gemm_tn_repeated(ADD, dE, dZ, &repeated[i], width);
        if (dbias) bias_backward(dbias, dZ, rows, width);
    }
}

/* turn: a stage for each chunk, or NULL */
static void block_backward(real *dX, real *dE, real *dbias, Turn *turn, real scale,
                           const Block *block, const RDropBuffers *b, const real *X,
                           const real *E, const int *target, double smoothing, double A)
{
    const LossBuffers *l = &b->loss;
    int C = block->C, chunks = loss_chunks(C), P = block->pairs;
    real a = (real)(A / 2), others = (real)(smoothing / C);
    real own_share = scale * (real)(1 - smoothing);
    Repeated repeated[2];
    for (int i = 0; i < block->pieces; i++)
        repeated[i] =
            gemm_repeated(l->X + (size_t)i * gemm_repeated_size(block->D, block->rows),
                          X + piece_at(block, i), block->D, block->rows);
    for (int k = 0, first = 0; k < chunks; k++, first += LOSS_CLASSES) {
        int width = at_most(C - first, LOSS_CLASSES);
        real *Z = l->Z + (size_t)first * (size_t)(2 * P);
        for (int n = 0; n < P; n++) {
            real *z = Z + (size_t)n * (size_t)width, *twin = z + (size_t)P * (size_t)width;
            int at = n * chunks + k, at_twin = (n + P) * chunks + k;
            Side s = {l->largest[at], l->sum[at], b->divergence[n]};
            Side t = {l->largest[at_twin], l->sum[at_twin], b->divergence[n + P]};
            chunk_backward(z, twin, s, t, b->between[n], a, scale, others, width);
            int own = target[block->first + n] - first;
            if (own >= 0 && own < width) z[own] -= own_share, twin[own] -= own_share;
        }
        turn_next(turn, 1);
        products(k == 0 ? SET : ADD, dX, dE + (size_t)first * (size_t)block->D,
                 dbias ? dbias + first : NULL, block, Z, repeated,
                 E + (size_t)first * (size_t)block->D, width);
    }
}

void rdrop_backward(Loss *loss, real *dX, real *dE, real *dbias, Turn *turn, real scale,
                    const real *X, const real *E, const real *bias, const int *target,
                    double smoothing, double A, const RDropBuffers *b, int M, int V, int D)
{
    turn = loss_turn(turn, M, V - 1);
    for (int first = 0; first < M / 2; first += LOSS_ROWS / 2) {
        Block block = block_at(first, M, V, D);
        block_forward(loss, &block, b, X, E, bias, target, smoothing, A);
        block_backward(dX, dE, dbias, turn, scale, &block, b, X, E, target, smoothing, A);
    }
}
