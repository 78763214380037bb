/* loss.c -- softmax and label-smoothed cross-entropy over C = V-1 classes (all but <pad>).
 *
 *   forward    z = X Eᵀ + bias                                          logits
 *              p = softmax(z),   -ln p_c = lse - z_c,   lse = ln Σ_c e^(z_c)
 *              q_c = (1-λ) ((1-ε) [c = t] + ε/C) + λ s_c                target distribution, smoothed
 *              objective = Σ_c q_c (-ln p_c)                            cross-entropy of q and p
 *                        = lse - (1-λ) ((1-ε) z_t + (ε/C) Σ_c z_c) - λ Σ_c s_c z_c
 *   backward   dz_c = scale · (p_c - q_c)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * E is read in chunks of LOSS_CLASSES rows, so that a chunk of E, of dE and of the logits stay
 * in cache together. Backward reads e^(z - m), where m is the largest logit of the row in the
 * chunk. After the last chunk the lse of a row follows from m and the sum s of each chunk:
 *   lse = L + ln Σ_chunks s e^(m - L),   L = max m;      p_c = e^(z_c - m) · e^(m - lse)
 *
 * Label smoothing: Szegedy et al. 2016, §7. The target's probability in q is 1-ε+ε/C. s is the
 * distribution of teachers, if there are any: word-level distillation, Kim and Rush 2016 (arXiv
 * 1606.07947), §3.1.
 *
 * R-Drop adds the KL divergence between the distributions p = softmax(z) of a row and q =
 * softmax(z') of its copy, which had another dropout mask, to the sum of their cross-entropies:
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
#include "model/loss.h"

#include <math.h>
#include <stddef.h>

#include "base/real.h"
#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

void loss_layout(LossBuffers *buffers, Arena *arena, int M, const OutputLayer *w, bool training,
                 bool pairs)
{
    size_t rows = (size_t)at_most(M, LOSS_ROWS), chunks = (size_t)loss_chunks(w->C);
    size_t kept = (size_t)(training || pairs ? w->C : at_most(w->C, LOSS_CLASSES));
    *buffers = (LossBuffers){.training = training || pairs, .pairs = pairs};
    buffers->Z = ARENA_TAKE(arena, real, rows * kept);
    buffers->largest = ARENA_TAKE(arena, real, rows * chunks);
    buffers->sum = ARENA_TAKE(arena, real, rows * chunks);
    buffers->total = ARENA_TAKE(arena, double, rows);
    buffers->at_target = ARENA_TAKE(arena, real, rows);
    buffers->at_soft = ARENA_TAKE(arena, double, rows);
    if (!pairs) return;
    buffers->weighted = ARENA_TAKE(arena, real, rows * chunks);
    buffers->lse_change = ARENA_TAKE(arena, real, rows / 2);
    buffers->KL = ARENA_TAKE(arena, real, rows);
}

real *logits_layout(Arena *arena, int M, int V)
{
    return ARENA_TAKE(arena, real, (size_t)at_most(M, LOGITS_ROWS) * (size_t)V);
}

void logits_forward(real *Z, const real *X, const Weights *w, int M, int V, int D)
{
    matrix_multiply(Z, X, &w->output, w->logits_bias, M, V - 1, D);
}

real *logits_row(real *block, int r, const real *X, const Weights *w, int M, int V, int D)
{
    if (r % LOGITS_ROWS == 0)
        logits_forward(block, X + (size_t)r * (size_t)D, w, at_most(M - r, LOGITS_ROWS), V, D);
    return block + (size_t)(r % LOGITS_ROWS) * (size_t)(V - 1);
}

/* z [width] becomes e^(z - largest), the numerators of the softmax; returns their sum. */
static real exponentials(real *z, real *largest, double *total, int width)
{
    real top = z[0], sum = 0, scores = 0;
#pragma omp simd reduction(max : top) simdlen(16)
    for (int c = 0; c < width; c++) top = z[c] > top ? z[c] : top;
#pragma omp simd reduction(+ : sum, scores) simdlen(16)
    for (int c = 0; c < width; c++) {
        scores += z[c];
        z[c] = vec_exp(z[c] - top);
        sum += z[c];
    }
    *largest = top;
    *total += scores;
    return sum;
}

/* The same for R-Drop, where the logits z stay.   copy [width] the copy's
 * weighted (=) Σ e^(z - m) (z - z') */
static real pair_exponentials(const real *z, const real *copy, real *largest, real *weighted,
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

/* A block of rows of X from row `first` on. With R-Drop the second half of the block are the
 * copies of the first half. X holds the block in one piece, or in two, `apart` rows from each
 * other. */
typedef struct RowBlock {
    int first, rows;
    int own;  // rows without the copies
    int pieces, piece, apart;
} RowBlock;

static RowBlock block_at(int first, int M, bool pairs)
{
    int own = at_most(M - first, LOSS_ROWS), half = M / 2;
    if (!pairs) return (RowBlock){first, own, own, 1, own, 0};
    own = at_most(half - first, LOSS_ROWS / 2);
    if (own == half) return (RowBlock){first, M, own, 1, M, 0};
    return (RowBlock){first, 2 * own, own, 2, own, half};
}

/* Where piece i begins in a matrix [M,D]. */
static size_t piece_at(const RowBlock *block, int i, int D)
{
    return (size_t)(block->first + i * block->apart) * (size_t)D;
}

/* Chunk k: the output layer of its classes. */
static OutputLayer chunk_of(const OutputLayer *w, int k)
{
    size_t first = (size_t)k * LOSS_CLASSES;
    return (OutputLayer){w->E + first * (size_t)w->D, w->bias ? w->bias + first : NULL,
                         at_most(w->C - (int)first, LOSS_CLASSES), w->D, w->precision};
}

/* Chunk k: its logits [rows,width], and what forward keeps of them. */
static real *chunk_logits(const LossBuffers *b, int k, int rows)
{
    return b->training ? b->Z + (size_t)k * LOSS_CLASSES * (size_t)rows : b->Z;
}

/* The index in chunk k of row n's target, or -1. */
static int own_class(const Objective *objective, const RowBlock *block, int n, int k, int width)
{
    int c = objective->target[block->first + n % block->own] - k * LOSS_CLASSES;
    return c >= 0 && c < width ? c : -1;
}

/* The target distribution, but for the teachers': on the target, and on every class. */
static double on_target(const Objective *o)
{
    return (1 - o->soft.weight) * (1 - o->smoothing);
}
static double on_all(const Objective *o, int C)
{
    return (1 - o->soft.weight) * o->smoothing / C;
}

/* Returns Σ s_c z_c of row n over the classes of chunk k; z [width] (+=) factor · s. */
static double add_soft(real *z, real factor, const Objective *objective, const RowBlock *block,
                       int n, int k, int width)
{
    const SoftTargets *soft = &objective->soft;
    size_t row = (size_t)(block->first + n % block->own);
    double sum = 0;
    for (int i = 0; i < soft->each; i++) {
        const SoftTarget *s = &soft->at[row * (size_t)soft->each + (size_t)i];
        int c = s->id - k * LOSS_CLASSES;
        if (c < 0 || c >= width) continue;
        sum += (double)s->probability * (double)z[c];
        z[c] += factor * s->probability;
    }
    return sum;
}

/* Adds the loss of row n with this lse. */
static void add_loss(Loss *loss, double lse, const LossBuffers *b, int n, const Objective *o,
                     int C)
{
    double at_target = (double)b->at_target[n];
    loss->nll += lse - at_target;
    loss->objective += lse - on_target(o) * at_target - on_all(o, C) * b->total[n] -
                       o->soft.weight * b->at_soft[n];
    loss->tokens++;
}

/* Adds the loss of row n; its chunks' `largest` become e^(m - lse). */
static void row_loss(Loss *loss, const LossBuffers *b, int n, const Objective *objective, int C)
{
    int chunks = loss_chunks(C);
    real *largest = b->largest + n * chunks, top = largest[0], all = 0;
    const real *sum = b->sum + n * chunks;
#pragma omp simd reduction(max : top)
    for (int c = 0; c < chunks; c++) top = largest[c] > top ? largest[c] : top;
#pragma omp simd reduction(+ : all)
    for (int c = 0; c < chunks; c++) {
        largest[c] = vec_exp(largest[c] - top);
        all += sum[c] * largest[c];
    }
#pragma omp simd
    for (int c = 0; c < chunks; c++) largest[c] /= all;
    add_loss(loss, (double)top + log(all), b, n, objective, C);
}

/* R-Drop: returns Σ_c p_c (z_c - z'_c) of row n, from its chunks, whose `sum` become e^(m -
 * lse).   lse (=) */
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

/* R-Drop: adds the loss of row n and its copy, row m. */
static void pair_loss(Loss *loss, const LossBuffers *b, int n, int m,
                      const Objective *objective, int C)
{
    int row[2] = {n, m};
    double lse[2], difference[2];
    for (int i = 0; i < 2; i++) {
        difference[i] = row_difference(&lse[i], b, row[i], loss_chunks(C));
        add_loss(loss, lse[i], b, row[i], objective, C);
    }
    // KL(p‖q) and KL(q‖p)
    double change = lse[0] - lse[1], KL[2] = {difference[0] - change, difference[1] + change};
    loss->objective += objective->r_drop / 2 * (KL[0] + KL[1]);
    b->lse_change[n] = (real)change;
    for (int i = 0; i < 2; i++) b->KL[row[i]] = (real)KL[i];
}

/* Adds the loss of a block; Z (=) e^(z - m), with R-Drop the logits z. */
static void block_forward(Loss *loss, const RowBlock *block, const real *X,
                          const OutputLayer *w, const Objective *objective,
                          const LossBuffers *b)
{
    int chunks = loss_chunks(w->C), rows = block->rows, own = block->own;
    for (int n = 0; n < rows; n++) b->total[n] = b->at_soft[n] = 0;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = chunk_of(w, k);
        size_t width = (size_t)chunk.C;
        real *Z = chunk_logits(b, k, rows);
        // z = X Eᵀ + bias
        for (int i = 0; i < block->pieces; i++)
            gemm_nt(w->precision, Z + (size_t)(i * block->piece) * width,
                    X + piece_at(block, i, w->D), chunk.E, chunk.bias, block->piece, chunk.C,
                    w->D);
        // softmax: m and Σ e^(z - m)
        for (int n = 0; n < rows; n++) {
            real *z = Z + (size_t)n * width;
            int at = n * chunks + k, target = own_class(objective, block, n, k, chunk.C);
            if (target >= 0) b->at_target[n] = z[target];
            b->at_soft[n] += add_soft(z, 0, objective, block, n, k, chunk.C);
            if (b->pairs)
                b->sum[at] =
                    pair_exponentials(z, Z + (size_t)((n + own) % rows) * width,
                                      &b->largest[at], &b->weighted[at], &b->total[n], chunk.C);
            else b->sum[at] = exponentials(z, &b->largest[at], &b->total[n], chunk.C);
        }
    }
    for (int n = 0; n < own; n++)
        if (b->pairs) pair_loss(loss, b, n, n + own, objective, w->C);
        else row_loss(loss, b, n, objective, w->C);
}

/* R-Drop: z, copy [width] (=) the gradients of the logits of row n and its copy, row m, in chunk
 * k, but for what only some classes have of the target distribution. */
static void pair_backward(real *z, real *copy, const LossBuffers *b, int n, int m, int k,
                          const Objective *objective, int width, int C)
{
    int at = n * loss_chunks(C) + k, copy_at = m * loss_chunks(C) + k;
    real a = (real)(objective->r_drop / 2), uniform = (real)on_all(objective, C);
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

/* The gradients of the logits of chunk k, in place of its Z. */
static void logits_backward(real *dZ, int k, int width, const RowBlock *block,
                            const Objective *objective, const LossBuffers *b, int C)
{
    int chunks = loss_chunks(C), own = block->own;
    real scale = objective->scale, all = scale * (real)on_all(objective, C);
    real target_share = scale * (real)on_target(objective);
    real soft_share = scale * (real)objective->soft.weight;
    for (int n = 0; n < own; n++) {
        real *dz = dZ + (size_t)n * (size_t)width, *copy = dz + (size_t)own * (size_t)width;
        int target = own_class(objective, block, n, k, width);
        if (b->pairs) {
            pair_backward(dz, copy, b, n, n + own, k, objective, width, C);
            if (target >= 0) copy[target] -= target_share;
            add_soft(copy, -soft_share, objective, block, n, k, width);
        } else {
            real p_factor = scale * b->largest[n * chunks + k];
#pragma omp simd simdlen(16)
            for (int c = 0; c < width; c++) dz[c] = dz[c] * p_factor - all;
        }
        if (target >= 0) dz[target] -= target_share;
        add_soft(dz, -soft_share, objective, block, n, k, width);
    }
}

static void block_backward(real *dX, const OutputLayer *dw, const RowBlock *block,
                           const real *X, const OutputLayer *w, const Objective *objective,
                           const LossBuffers *b)
{
    int chunks = loss_chunks(w->C), rows = block->piece, D = w->D;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = chunk_of(w, k), dchunk = chunk_of(dw, k);
        int width = chunk.C;
        real *dZ = chunk_logits(b, k, block->rows);
        size_t piece = (size_t)rows * (size_t)width;
        logits_backward(dZ, k, width, block, objective, b, w->C);
        // dX = dz E
        for (int i = 0; i < block->pieces; i++)
            gemm_nn((k == 0 ? SET : ADD) | w->precision, dX + piece_at(block, i, D),
                    dZ + (size_t)i * piece, chunk.E, rows, D, width);
        // dE += dzᵀ X          dbias += Σ_rows dz
        for (int i = 0; i < block->pieces; i++, dZ += piece) {
            gemm_tn(ADD | w->precision, dchunk.E, dZ, X + piece_at(block, i, D), width, D,
                    rows);
            if (dchunk.bias) bias_backward(dchunk.bias, dZ, rows, width);
        }
    }
}

void loss_forward(Loss *loss, const real *X, const OutputLayer *w, const Objective *objective,
                  const LossBuffers *b, int M)
{
    loss_backward(loss, NULL, NULL, X, w, objective, b, M);
}

/* dX NULL: the loss alone */
void loss_backward(Loss *loss, real *dX, const OutputLayer *dw, const real *X,
                   const OutputLayer *w, const Objective *objective, const LossBuffers *b,
                   int M)
{
    for (int first = 0; first < (b->pairs ? M / 2 : M);) {
        RowBlock block = block_at(first, M, b->pairs);
        block_forward(loss, &block, X, w, objective, b);
        if (dX) block_backward(dX, dw, &block, X, w, objective, b);
        first += block.own;
    }
}

real loss_logit_gradient(const LossBuffers *b, int r, int c, int M, int C)
{
    int k = c / LOSS_CLASSES, width = at_most(C - k * LOSS_CLASSES, LOSS_CLASSES);
    return chunk_logits(b, k, M)[r * width + c % LOSS_CLASSES];
}
