/* loss.c -- softmax and label-smoothed cross-entropy over C = V-1 classes (all but <pad>).
 *
 *   forward    z = X Eᵀ + bias                                          logits
 *              p = softmax(z),   -ln p_c = lse - z_c,   lse = ln Σ_c e^(z_c)
 *              q_c = (1-ε) [c = t] + ε/C                                target distribution, smoothed
 *              objective = Σ_c q_c (-ln p_c)                            cross-entropy of q and p
 *                        = lse - (1-ε) z_t - (ε/C) Σ_c z_c
 *   backward   dz_c = scale · (p_c - q_c)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * Label smoothing: Szegedy et al. 2016, §7. The target's probability in q is 1-ε+ε/C. With
 * teachers q is (1-λ) of this, and λ s, their distribution: word-level distillation, Kim and Rush
 * 2016 (arXiv 1606.07947), §3.1.
 *
 * E is read in chunks of LOSS_CLASSES rows, so that a chunk of E, of dE and of the logits stay
 * in cache together. Backward reads e^(z - m), where m is the largest logit of the row in the
 * chunk. After the last chunk the lse of a row follows from m and the sum s of each chunk:
 *   lse = L + ln Σ_chunks s e^(m - L),   L = max m;      p_c = e^(z_c - m) · e^(m - lse) */
#include "model/loss.h"

#include <math.h>
#include <stddef.h>

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

OutputLayer loss_chunk(const OutputLayer *w, int k)
{
    size_t first = (size_t)k * LOSS_CLASSES;
    return (OutputLayer){w->E + first * (size_t)w->D, w->bias ? w->bias + first : NULL,
                         at_most(w->C - (int)first, LOSS_CLASSES), w->D, w->precision};
}

real *loss_logits(const LossBuffers *b, int k, int rows)
{
    return b->training ? b->Z + (size_t)k * LOSS_CLASSES * (size_t)rows : b->Z;
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

/* Adds the loss of row n of a block; its chunks' `largest` become e^(m - lse). */
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
    loss_add(loss, (double)top + log(all), b, n, objective, C);
}

/* Adds the loss of a block of rows of X, from row `first` on; Z (=) e^(z - m). */
static void block_forward(Loss *loss, int first, int rows, const real *X, const OutputLayer *w,
                          const Objective *objective, const LossBuffers *b)
{
    int chunks = loss_chunks(w->C);
    for (int n = 0; n < rows; n++) b->total[n] = b->at_soft[n] = 0;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k);
        real *z = loss_logits(b, k, rows);
        // z = X Eᵀ + bias
        gemm_nt(w->precision, z, X, chunk.E, chunk.bias, rows, chunk.C, w->D);
        // softmax: m and Σ e^(z - m)
        for (int n = 0; n < rows; n++, z += chunk.C) {
            int at = n * chunks + k;
            loss_read_targets(b, n, z, objective, first + n, k, chunk.C);
            b->sum[at] = exponentials(z, &b->largest[at], &b->total[n], chunk.C);
        }
    }
    for (int n = 0; n < rows; n++) row_loss(loss, b, n, objective, w->C);
}

static void block_backward(real *dX, const OutputLayer *dw, int first, int rows, const real *X,
                           const OutputLayer *w, const Objective *objective,
                           const LossBuffers *b)
{
    int chunks = loss_chunks(w->C);
    real scale = objective->scale, all = scale * (real)loss_on_all(objective, w->C);
    real on_target = scale * (real)loss_on_target(objective);
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = loss_chunk(w, k), dchunk = loss_chunk(dw, k);
        real *dZ = loss_logits(b, k, rows), *dz = dZ;
        // dz = scale · (p - q)
        for (int n = 0; n < rows; n++, dz += chunk.C) {
            real p_factor = scale * b->largest[n * chunks + k];
#pragma omp simd simdlen(16)
            for (int c = 0; c < chunk.C; c++) dz[c] = dz[c] * p_factor - all;
            loss_subtract_targets(dz, on_target, objective, first + n, k, chunk.C);
        }
        // dX = dz E
        gemm_nn((k == 0 ? SET : ADD) | w->precision, dX, dZ, chunk.E, rows, w->D, chunk.C);
        // dE += dzᵀ X          dbias += Σ_rows dz
        gemm_tn(ADD | w->precision, dchunk.E, dZ, X, chunk.C, w->D, rows);
        if (dchunk.bias) bias_backward(dchunk.bias, dZ, rows, chunk.C);
    }
}

void loss_backward(Loss *loss, real *dX, const OutputLayer *dw, const real *X,
                   const OutputLayer *w, const Objective *objective, const LossBuffers *b,
                   int M)
{
    for (int first = 0; first < M; first += LOSS_ROWS) {
        int rows = at_most(M - first, LOSS_ROWS);
        size_t at = (size_t)first * (size_t)w->D;
        block_forward(loss, first, rows, X + at, w, objective, b);
        if (dX) block_backward(dX + at, dw, first, rows, X + at, w, objective, b);
    }
}

real loss_logit_gradient(const LossBuffers *b, int r, int c, int M, int C)
{
    int k = c / LOSS_CLASSES, width = at_most(C - k * LOSS_CLASSES, LOSS_CLASSES);
    return loss_logits(b, k, M)[r * width + c % LOSS_CLASSES];
}

/* ---- the target distribution q ---- */

double loss_on_target(const Objective *o)
{
    return (1 - o->soft.weight) * (1 - o->smoothing);
}

double loss_on_all(const Objective *o, int C)
{
    return (1 - o->soft.weight) * o->smoothing / C;
}

/* Returns Σ s_c z_c of a row over the classes of chunk k; z [width] (+=) factor · s. */
static double add_soft(real *z, real factor, const SoftTargets *soft, int row, int k, int width)
{
    double sum = 0;
    for (int i = 0; i < soft->each; i++) {
        const SoftTarget *s = &soft->at[(size_t)row * (size_t)soft->each + (size_t)i];
        int c = s->id - k * LOSS_CLASSES;
        if (c < 0 || c >= width) continue;
        sum += (double)s->probability * (double)z[c];
        z[c] += factor * s->probability;
    }
    return sum;
}

void loss_read_targets(const LossBuffers *b, int n, real *z, const Objective *o, int row, int k,
                       int width)
{
    int c = o->target[row] - k * LOSS_CLASSES;
    if (c >= 0 && c < width) b->at_target[n] = z[c];
    b->at_soft[n] += add_soft(z, 0, &o->soft, row, k, width);
}

void loss_subtract_targets(real *dz, real on_target, const Objective *o, int row, int k,
                           int width)
{
    int c = o->target[row] - k * LOSS_CLASSES;
    if (c >= 0 && c < width) dz[c] -= on_target;
    add_soft(dz, -(o->scale * (real)o->soft.weight), &o->soft, row, k, width);
}

void loss_add(Loss *loss, double lse, const LossBuffers *b, int n, const Objective *o, int C)
{
    double at_target = (double)b->at_target[n];
    loss->nll += lse - at_target;
    loss->objective += lse - loss_on_target(o) * at_target - loss_on_all(o, C) * b->total[n] -
                       o->soft.weight * b->at_soft[n];
    loss->tokens++;
}

/* ---- the logits alone ---- */

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
