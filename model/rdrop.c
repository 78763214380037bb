/* rdrop.c -- R-Drop: the KL divergence between the distributions p = softmax(z) of a row and q =
 * softmax(z') of its copy, which had another dropout mask, is added to the sum of their
 * cross-entropies (loss.c).
 *
 *   forward    d_c = ln p_c - ln q_c = (z_c - z'_c) - (lse - lse')
 *              K = KL(p‖q) = Σ_c p_c d_c                          K' = KL(q‖p) = -Σ_c q_c d_c
 *              objective = CE + CE' + a (K + K'),   a = A / 2
 *   backward   ∂K/∂z_k = p_k (d_k - K)         by p (δ - p) of the softmax; Σ p_c ∂d_c/∂z_k = 0
 *              ∂K'/∂z_k = p_k - q_k             as for any cross-entropy against fixed q
 *              dz_k  = scale · (p_k (1 + a (1 + d_k - K))  - a q_k - target distribution of k)
 *              dz'_k = scale · (q_k (1 + a (1 - d_k - K')) - a p_k - target distribution of k)
 *
 * Σ p_c (z_c - z'_c) is summed chunk by chunk, as lse is, from e^(z - m). Backward reads the
 * logits, which d needs, and e^(m - lse). Liang et al. 2021 (arXiv 2106.14448), equations 1 to
 * 3: an update does twice the work, and one more exponential for each logit. */
#include "model/rdrop.h"

#include <math.h>

#include "kernels/vecexp.h"
#include "model/linear.h"

/* `own` rows of X from row `first` on, and behind them their copies. X holds both in one piece,
 * or in two pieces that are `apart` rows from each other. */
typedef struct RowBlock {
    int first, own;
    int pieces, piece, apart;
} RowBlock;

static RowBlock block_at(int first, int M)
{
    int half = M / 2, own = at_most(half - first, LOSS_ROWS / 2);
    return own == half ? (RowBlock){first, own, 1, M, 0} : (RowBlock){first, own, 2, own, half};
}

/* Where piece i begins in a matrix [M,D]. */
static size_t piece_at(const RowBlock *block, int i, int D)
{
    return (size_t)(block->first + i * block->apart) * (size_t)D;
}

/* Returns Σ e^(z - m), where m is the largest of the logits z [width], which stay.
 * copy [width] the copy's   weighted (=) Σ e^(z - m) (z - z')   total (+=) Σ z */
static real exponentials(const real *z, const real *copy, real *largest, real *weighted,
                         double *total, int width)
{
    real top = z[0], sum = 0, all = 0, product = 0;
#pragma omp simd reduction(max : top) simdlen(16)
    for (int c = 0; c < width; c++) top = z[c] > top ? z[c] : top;
#pragma omp simd reduction(+ : sum, all, product) simdlen(16)
    for (int c = 0; c < width; c++) {
        real e = vec_exp(z[c] - top);
        all += z[c];
        sum += e;
        product += e * (z[c] - copy[c]);
    }
    *largest = top;
    *weighted = product;
    *total += all;
    return sum;
}

/* Returns Σ_c p_c (z_c - z'_c) of row n, from its chunks, whose `sum` become e^(m - lse).
 * lse (=) */
static double row_difference(double *lse, const LossBuffers *b, int n, int chunks)
{
    const real *largest = b->largest + n * chunks, *weighted = b->weighted + n * chunks;
    real *sum = b->sum + n * chunks;
    double top = (double)largest[0], all = 0, product = 0;
    for (int k = 1; k < chunks; k++) top = fmax(top, (double)largest[k]);
    for (int k = 0; k < chunks; k++) {
        double e = exp((double)largest[k] - top);
        all += (double)sum[k] * e;
        product += (double)weighted[k] * e;
        sum[k] = (real)e;
    }
    for (int k = 0; k < chunks; k++) sum[k] = (real)((double)sum[k] / all);
    *lse = top + log(all);
    return product / all;
}

/* Adds the loss of row n and its copy, row m. */
static void pair_loss(Loss *loss, const LossBuffers *b, int n, int m,
                      const Objective *objective, int C)
{
    int row[2] = {n, m};
    double lse[2], difference[2];
    for (int i = 0; i < 2; i++) {
        difference[i] = row_difference(&lse[i], b, row[i], loss_chunks(C));
        loss_add(loss, lse[i], b, row[i], objective, C);
    }
    // KL(p‖q) and KL(q‖p)
    double change = lse[0] - lse[1], KL[2] = {difference[0] - change, difference[1] + change};
    loss->objective += objective->r_drop / 2 * (KL[0] + KL[1]);
    b->lse_change[n] = (real)change;
    for (int i = 0; i < 2; i++) b->KL[row[i]] = (real)KL[i];
}

/* Adds the loss of a block; Z (=) the logits. */
static void block_forward(Loss *loss, const RowBlock *block, const real *X,
                          const OutputLayer *w, const Objective *objective,
                          const LossBuffers *b)
{
    int chunks = loss_chunks(w->C), own = block->own, rows = 2 * own;
    for (int n = 0; n < rows; n++) b->total[n] = b->at_soft[n] = 0;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k);
        size_t width = (size_t)chunk.C;
        real *Z = loss_logits(b, k, rows);
        for (int i = 0; i < block->pieces; i++)
            gemm_nt(w->precision, Z + (size_t)(i * block->piece) * width,
                    X + piece_at(block, i, w->D), chunk.E, chunk.bias, block->piece, chunk.C,
                    w->D);
        for (int n = 0; n < rows; n++) {
            real *z = Z + (size_t)n * width, *copy = Z + (size_t)((n + own) % rows) * width;
            int at = n * chunks + k;
            loss_read_targets(b, n, z, objective, block->first + n % own, k, chunk.C);
            b->sum[at] =
                exponentials(z, copy, &b->largest[at], &b->weighted[at], &b->total[n], chunk.C);
        }
    }
    for (int n = 0; n < own; n++) pair_loss(loss, b, n, n + own, objective, w->C);
}

/* z, copy [width] (=) the gradients of the logits of row n and its copy, row m, in chunk k, but
 * for what only some classes have of the target distribution. */
static void pair_backward(real *z, real *copy, const LossBuffers *b, int n, int m, int k,
                          const Objective *objective, int width, int C)
{
    int at = n * loss_chunks(C) + k, copy_at = m * loss_chunks(C) + k;
    real a = (real)(objective->r_drop / 2), uniform = (real)loss_on_all(objective, C);
    real scale = objective->scale, change = b->lse_change[n], K = b->KL[n], K_copy = b->KL[m];
    real top = b->largest[at], factor = b->sum[at];
    real copy_top = b->largest[copy_at], copy_factor = b->sum[copy_at];
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) {
        real p = factor * vec_exp(z[c] - top), q = copy_factor * vec_exp(copy[c] - copy_top);
        real d = z[c] - copy[c] - change;
        z[c] = scale * (p * (1 + a * (1 + d - K)) - a * q - uniform);
        copy[c] = scale * (q * (1 + a * (1 - d - K_copy)) - a * p - uniform);
    }
}

static void block_backward(real *dX, const OutputLayer *dw, const RowBlock *block,
                           const real *X, const OutputLayer *w, const Objective *objective,
                           const LossBuffers *b)
{
    int own = block->own, rows = block->piece, D = w->D;
    real on_target = objective->scale * (real)loss_on_target(objective);
    for (int k = 0; k < loss_chunks(w->C); k++) {
        OutputLayer chunk = loss_chunk(w, k), dchunk = loss_chunk(dw, k);
        size_t width = (size_t)chunk.C;
        real *dZ = loss_logits(b, k, 2 * own);
        for (int n = 0; n < own; n++) {
            real *dz = dZ + (size_t)n * width, *copy = dz + (size_t)own * width;
            pair_backward(dz, copy, b, n, n + own, k, objective, chunk.C, w->C);
            loss_subtract_targets(dz, on_target, objective, block->first + n, k, chunk.C);
            loss_subtract_targets(copy, on_target, objective, block->first + n, k, chunk.C);
        }
        for (int i = 0; i < block->pieces; i++, dZ += (size_t)rows * width) {
            size_t at = piece_at(block, i, D);
            gemm_nn((k == 0 ? SET : ADD) | w->precision, dX + at, dZ, chunk.E, rows, D,
                    chunk.C);
            gemm_tn(ADD | w->precision, dchunk.E, dZ, X + at, chunk.C, D, rows);
            if (dchunk.bias) bias_backward(dchunk.bias, dZ, rows, chunk.C);
        }
    }
}

void rdrop_backward(Loss *loss, real *dX, const OutputLayer *dw, const real *X,
                    const OutputLayer *w, const Objective *objective, const LossBuffers *b,
                    int M)
{
    for (int first = 0; first < M / 2;) {
        RowBlock block = block_at(first, M);
        block_forward(loss, &block, X, w, objective, b);
        if (dX) block_backward(dX, dw, &block, X, w, objective, b);
        first += block.own;
    }
}
