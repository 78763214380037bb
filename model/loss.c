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
 * With R-Drop rows come in pairs: the second half of a block are the copies. */
#include "model/loss.h"

#include "kernels/gemm.h"
#include "kernels/vecexp.h"
#include "model/linear.h"

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
    real top = vec_maximum(z, width), sum = 0, scores = 0;
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
    real *largest = b->largest + n * chunks, top = vec_maximum(largest, chunks), all = 0;
    const real *sum = b->sum + n * chunks;
#pragma omp simd reduction(+ : all)
    for (int c = 0; c < chunks; c++) {
        largest[c] = vec_exp(largest[c] - top);
        all += sum[c] * largest[c];
    }
#pragma omp simd
    for (int c = 0; c < chunks; c++) largest[c] /= all;
    add_loss(loss, (double)top + log(all), b, n, o, C);
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

/* ---- a row and its copy, with R-Drop
 *
 * The KL divergence between the distributions p = softmax(z) of a row and q = softmax(z') of its
 * copy is added to the sum of their cross-entropies.
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

/* Returns Σ e^(z - m), where m is the largest of the logits z [width] of a chunk, which stay.
 * copy [width] the copy's   weighted (=) Σ e^(z - m) (z - z')   total (+=) Σ z */
static real pair_exponentials(const real *z, const real *copy, real *largest, real *weighted,
                              double *total, int width)
{
    real top = vec_maximum(z, width), sum = 0, all = 0, product = 0;
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

/* Returns Σ_c p_c (z_c - z'_c) of row n; its chunks' `sum` become e^(m - lse). lse (=) */
static double difference(double *lse, const LossBuffers *b, int n, int chunks)
{
    const real *largest = b->largest + n * chunks, *weighted = b->weighted + n * chunks;
    real *sum = b->sum + n * chunks;
    double top = (double)vec_maximum(largest, chunks), all = 0, product = 0;
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

/* row_loss of row n and its copy, row m. */
static void pair_loss(Loss *loss, const LossBuffers *b, int n, int m, const Objective *o, int C)
{
    double lse, lse_copy, mean = difference(&lse, b, n, chunks_of(C));
    double copy_mean = difference(&lse_copy, b, m, chunks_of(C)), change = lse - lse_copy;
    double K = mean - change, K_copy = copy_mean + change;
    b->KL[n] = (real)K, b->KL[m] = (real)K_copy;
    b->lse_change[n] = (real)change;
    add_loss(loss, lse, b, n, o, C);
    add_loss(loss, lse_copy, b, m, o, C);
    loss->objective += o->r_drop / 2 * (K + K_copy);
}

/* row_backward of row n and its copy, row m, which are z and copy */
static void pair_backward(real *z, real *copy, const LossBuffers *b, int n, int m, int k,
                          const Objective *o, int width, int C)
{
    int at = n * chunks_of(C) + k, copy_at = m * chunks_of(C) + k;
    real a = (real)(o->r_drop / 2), scale = o->scale, uniform = (real)on_all(o, C);
    real top = b->largest[at], factor = b->sum[at], K = b->KL[n], change = b->lse_change[n];
    real copy_top = b->largest[copy_at], copy_factor = b->sum[copy_at], K_copy = b->KL[m];
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) {
        real p = factor * vec_exp(z[c] - top), q = copy_factor * vec_exp(copy[c] - copy_top);
        real d = z[c] - copy[c] - change;
        z[c] = scale * (p * (1 + a * (1 + d - K)) - a * q - uniform);
        copy[c] = scale * (q * (1 + a * (1 - d - K_copy)) - a * p - uniform);
    }
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
            b->sum[at] = b->pairs ? pair_exponentials(z, copy, &b->largest[at],
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

real *logits_row(real *block, int r, const real *X, const Matrix *output, const real *bias,
                 int M, int V, int D)
{
    if (r % LOGITS_ROWS == 0)  // logits = X Eᵀ + bias
        matrix_multiply(block, X + (size_t)r * (size_t)D, output, bias,
                        at_most(M - r, LOGITS_ROWS), V - 1, D);
    return block + (size_t)(r % LOGITS_ROWS) * (size_t)(V - 1);
}
