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
 *   lse = L + ln Σ_chunks s e^(m - L),   L = max m;      p_c = e^(z_c - m) · e^(m - lse)
 *
 * With R-Drop (rdrop.h) rows come in pairs: the second half of a block are the copies. */
#include "model/loss.h"

#include <math.h>
#include <stddef.h>

#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"
#include "model/rdrop.h"

static int chunks_of(int C)
{
    return (C + LOSS_CLASSES - 1) / LOSS_CLASSES;
}

void loss_layout(LossBuffers *buffers, Arena *arena, int M, const OutputLayer *w, bool training,
                 bool pairs)
{
    size_t chunks = (size_t)chunks_of(w->C);
    *buffers = (LossBuffers){.training = training || pairs, .pairs = pairs};
    buffers->rows = pairs ? M : at_most(M, LOSS_ROWS);
    size_t rows = (size_t)buffers->rows;
    size_t kept = (size_t)(buffers->training ? w->C : at_most(w->C, LOSS_CLASSES));
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

/* Chunk k of the classes. */
static OutputLayer chunk_of(const OutputLayer *w, int k)
{
    size_t first = (size_t)k * LOSS_CLASSES;
    return (OutputLayer){w->E + first * (size_t)w->D, w->bias ? w->bias + first : NULL,
                         at_most(w->C - (int)first, LOSS_CLASSES), w->D, w->precision};
}

/* Its logits [rows,width]. */
static real *logits_of(const LossBuffers *b, int k, int rows)
{
    return b->training ? b->Z + (size_t)k * LOSS_CLASSES * (size_t)rows : b->Z;
}

/* ---- the target distribution q ---- */

/* What q has on every class, and what it has more on the target. */
static double on_all(const Objective *o, int C)
{
    return (1 - o->soft.weight) * o->smoothing / C;
}

static double on_target(const Objective *o)
{
    return (1 - o->soft.weight) * (1 - o->smoothing);
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

/* Keeps the logits z of the targets of a row of X, which is row n of a block. */
static void read_targets(const LossBuffers *b, int n, real *z, const Objective *o, int row,
                         int k, int width)
{
    int c = o->target[row] - k * LOSS_CLASSES;
    if (c >= 0 && c < width) b->at_target[n] = z[c];
    b->at_soft[n] += add_soft(z, 0, &o->soft, row, k, width);
}

/* dz [width] (+=) -scale · q, but for on_all   on_it: scale · on_target */
static void subtract_targets(real *dz, real on_it, const Objective *o, int row, int k,
                             int width)
{
    int c = o->target[row] - k * LOSS_CLASSES;
    if (c >= 0 && c < width) dz[c] -= on_it;
    add_soft(dz, -(o->scale * (real)o->soft.weight), &o->soft, row, k, width);
}

/* Adds the cross-entropy of row n of a block with this lse. */
static void add_loss(Loss *loss, double lse, const LossBuffers *b, int n, const Objective *o,
                     int C)
{
    double at_target = (double)b->at_target[n];
    loss->nll += lse - at_target;
    loss->objective += lse - on_target(o) * at_target - on_all(o, C) * b->total[n] -
                       o->soft.weight * b->at_soft[n];
    loss->tokens++;
}

/* ---- a row ---- */

/* z [width] becomes e^(z - largest), the numerators of the softmax; returns their sum.
 * total (+=) Σ z */
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
static void row_loss(Loss *loss, const LossBuffers *b, int n, const Objective *o, int C)
{
    int chunks = chunks_of(C);
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
    add_loss(loss, (double)top + log(all), b, n, o, C);
}

/* Rows n and m of a block, which are copies of each other (rdrop.h). */
static void pair_of(RDropRow row[2], const LossBuffers *b, int n, int m, int chunks)
{
    for (int i = 0; i < 2; i++) {
        int at = (i ? m : n) * chunks;
        row[i] =
            (RDropRow){b->largest + at, b->weighted + at, b->sum + at, b->KL + (i ? m : n)};
    }
}

/* row_loss of row n and its copy, row m. */
static void pair_loss(Loss *loss, const LossBuffers *b, int n, int m, const Objective *o, int C)
{
    RDropRow row[2];
    double lse[2];
    pair_of(row, b, n, m, chunks_of(C));
    double divergence = rdrop_divergence(lse, row, chunks_of(C));
    b->lse_change[n] = (real)(lse[0] - lse[1]);
    add_loss(loss, lse[0], b, n, o, C);
    add_loss(loss, lse[1], b, m, o, C);
    loss->objective += o->r_drop / 2 * divergence;
}

/* dz [width] (=) scale · (p - on_all) of row n in chunk k */
static void row_backward(real *dz, const LossBuffers *b, int n, int k, const Objective *o,
                         int width, int C)
{
    real factor = o->scale * b->largest[n * chunks_of(C) + k];
    real all = o->scale * (real)on_all(o, C);
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) dz[c] = dz[c] * factor - all;
}

/* row_backward of row n and its copy, row m, which are z and copy */
static void pair_backward(real *z, real *copy, const LossBuffers *b, int n, int m, int k,
                          const Objective *o, int width, int C)
{
    RDropRow row[2];
    pair_of(row, b, n, m, chunks_of(C));
    rdrop_backward(z, copy, row, b->lse_change[n], k, (real)(o->r_drop / 2), o->scale,
                   (real)on_all(o, C), width);
}

/* ---- blocks of rows ---- */

/* Adds the loss of a block of rows of X, from row `first` on; Z (=) e^(z - m), with R-Drop z. */
static void block_forward(Loss *loss, int first, int rows, const real *X, const OutputLayer *w,
                          const Objective *o, const LossBuffers *b)
{
    int chunks = chunks_of(w->C), half = rows / 2;
    for (int n = 0; n < rows; n++) b->total[n] = b->at_soft[n] = 0;
    for (int k = 0; k < chunks; k++) {
        OutputLayer chunk = chunk_of(w, k);
        size_t width = (size_t)chunk.C;
        real *Z = logits_of(b, k, rows);
        // z = X Eᵀ + bias
        gemm_nt(w->precision, Z, X, chunk.E, chunk.bias, rows, chunk.C, w->D);
        // softmax: m and Σ e^(z - m)
        for (int n = 0; n < rows; n++) {
            int at = n * chunks + k;
            real *z = Z + (size_t)n * width, *copy = Z + (size_t)((n + half) % rows) * width;
            read_targets(b, n, z, o, first + n, k, chunk.C);
            b->sum[at] = b->pairs ? rdrop_exponentials(z, copy, &b->largest[at],
                                                       &b->weighted[at], &b->total[n], chunk.C)
                                  : exponentials(z, &b->largest[at], &b->total[n], chunk.C);
        }
    }
    for (int n = 0; n < (b->pairs ? half : rows); n++)
        if (b->pairs) pair_loss(loss, b, n, n + half, o, w->C);
        else row_loss(loss, b, n, o, w->C);
}

static void block_backward(real *dX, const OutputLayer *dw, int first, int rows, const real *X,
                           const OutputLayer *w, const Objective *o, const LossBuffers *b)
{
    int half = rows / 2;
    real on_it = o->scale * (real)on_target(o);
    for (int k = 0; k < chunks_of(w->C); k++) {
        OutputLayer chunk = chunk_of(w, k), dchunk = chunk_of(dw, k);
        real *dZ = logits_of(b, k, rows), *dz = dZ;
        // dz = scale · (p - q)
        for (int n = 0; n < rows; n++, dz += chunk.C) {
            if (!b->pairs) row_backward(dz, b, n, k, o, chunk.C, w->C);
            else if (n < half)
                pair_backward(dz, dz + (size_t)half * (size_t)chunk.C, b, n, n + half, k, o,
                              chunk.C, w->C);
            subtract_targets(dz, on_it, o, first + n, k, chunk.C);
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
    for (int first = 0; first < M; first += b->rows) {
        int rows = at_most(M - first, b->rows);
        size_t at = (size_t)first * (size_t)w->D;
        block_forward(loss, first, rows, X + at, w, objective, b);
        if (dX) block_backward(dX + at, dw, first, rows, X + at, w, objective, b);
    }
}

real loss_logit_gradient(const LossBuffers *b, int r, int c, int M, int C)
{
    int k = c / LOSS_CLASSES, width = at_most(C - k * LOSS_CLASSES, LOSS_CLASSES);
    return logits_of(b, k, M)[r * width + c % LOSS_CLASSES];
}

/* ---- the logits alone ---- */

real *logits_layout(Arena *arena, int M, int V)
{
    return ARENA_TAKE(arena, real, (size_t)at_most(M, LOGITS_ROWS) * (size_t)V);
}

real *logits_row(real *block, int r, const real *X, const Weights *w, int M, int V, int D)
{
    if (r % LOGITS_ROWS == 0)  // logits = X Eᵀ + bias
        matrix_multiply(block, X + (size_t)r * (size_t)D, &w->output, w->logits_bias,
                        at_most(M - r, LOGITS_ROWS), V - 1, D);
    return block + (size_t)(r % LOGITS_ROWS) * (size_t)(V - 1);
}
