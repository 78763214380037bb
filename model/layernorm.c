/* layernorm.c -- residual connection, then layer normalisation (layer normalization,
 * LayerNorm): each row gets mean 0 and variance 1, and is scaled and shifted.
 *
 *   forward    x = X + dropout(F + bias)
 *              x̂ = (x - mean) · rstd,   rstd = 1 / sqrt(var + 1e-5),   y = g ⊙ x̂ + b
 *   backward   u = dy ⊙ g
 *              dx = rstd · (u - avg(u) - x̂ · avg(u ⊙ x̂))      dg += dy ⊙ x̂      db += dy
 *                   (+ the dx of the next residual connection in pre-norm, which adds x)
 *              dF = dropout(dx)                                  dbias += Σ_rows dF
 *
 * var divides by D (biased), eps is inside the root: Ba et al. 2016 (arXiv 1607.06450). */
#include "model/layernorm.h"

#include <math.h>

void layernorm_layout(LayerNormSaved *saved, Arena *arena, int N, int D, double rate)
{
    size_t count = (size_t)N * (size_t)D;
    saved->D = D;
    saved->normal = ARENA_TAKE(arena, real, count);
    saved->rstd = ARENA_TAKE(arena, real, (size_t)N);
    saved->mask = dropout_layout(arena, count, rate);
}

/* The residual connection: x (=) X + dropout(F + bias). Returns the sum of x. */
INLINED real add_row(real *x, const real *X, const real *F, const real *bias,
                     const uint8_t *keep, real scale, int D)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < D; k++) {
        real f = F[k] + bias[k];
        x[k] = X[k] + (keep ? f * (scale * (real)keep[k]) : f);
        sum += x[k];
    }
    return sum;
}

static real row_sum(const real *x, int D)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < D; k++) sum += x[k];
    return sum;
}

void layernorm_forward(real *Y, real *sum, LayerNormSaved *saved, const real *X, const real *F,
                       const real *bias, NormWeights w, int N)
{
    int D = saved->D;
    real scale = saved->mask.scale;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        const uint8_t *keep = dropout_keep(&saved->mask, at);
        real *normal = saved->normal + at, *y = Y + at, total;
        const real *x = F ? sum + at : X + at;
        if (!F) total = row_sum(x, D);
        else if (keep) total = add_row(sum + at, X + at, F + at, bias, keep, scale, D);
        else total = add_row(sum + at, X + at, F + at, bias, NULL, 1, D);
        real mean = total / (real)D, var = 0;
#pragma omp simd reduction(+ : var)
        for (int k = 0; k < D; k++) var += (x[k] - mean) * (x[k] - mean);
        real rstd = 1 / (real)sqrt(var / (real)D + (real)1e-5);
        saved->rstd[n] = rstd;
#pragma omp simd
        for (int k = 0; k < D; k++) {
            normal[k] = (x[k] - mean) * rstd;
            y[k] = w.g[k] * normal[k] + w.b[k];
        }
    }
}

/* One row of dy and x̂, and the averages over it. */
typedef struct NormRow {
    const real *dy, *g, *x;
    real rstd, avg_u, avg_ux;
} NormRow;

/* dx (mode), df (=) if keep, and dbias (+=) if not NULL, of one row. */
INLINED void row_backward(GemmMode mode, real *dx, real *df, real *dbias, NormRow r,
                          const uint8_t *keep, real scale, int D)
{
#pragma omp simd
    for (int k = 0; k < D; k++) {
        real u = r.dy[k] * r.g[k], own = r.rstd * (u - r.avg_u - r.x[k] * r.avg_ux);
        dx[k] = mode == ADD ? dx[k] + own : own;
        if (keep) df[k] = dx[k] * (scale * (real)keep[k]);
        if (dbias) dbias[k] += keep ? df[k] : dx[k];
    }
}

INLINED void rows_backward(GemmMode mode, real *dX, real *dF, real *dbias, NormWeights dw,
                           const real *dY, const LayerNormSaved *saved, NormWeights w, int N)
{
    int D = saved->D;
    real scale = saved->mask.scale;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        const real *dy = dY + at, *x = saved->normal + at;
        const uint8_t *keep = dropout_keep(&saved->mask, at);
        real *dx = dX + at, sum_u = 0, sum_ux = 0;
#pragma omp simd reduction(+ : sum_u, sum_ux)
        for (int k = 0; k < D; k++) {
            real u = dy[k] * w.g[k];
            sum_u += u;
            sum_ux += u * x[k];
            dw.g[k] += dy[k] * x[k];
            dw.b[k] += dy[k];
        }
        NormRow row = {dy, w.g, x, saved->rstd[n], sum_u / (real)D, sum_ux / (real)D};
        if (keep) row_backward(mode, dx, dF + at, dbias, row, keep, scale, D);
        else if (dbias) row_backward(mode, dx, NULL, dbias, row, NULL, 1, D);
        else row_backward(mode, dx, NULL, NULL, row, NULL, 1, D);
    }
}

void layernorm_backward(GemmMode mode, real *dX, real *dF, real *dbias, NormWeights dw,
                        const real *dY, const LayerNormSaved *saved, NormWeights w, int N)
{
    if (mode == ADD) rows_backward(ADD, dX, dF, dbias, dw, dY, saved, w, N);
    else rows_backward(SET, dX, dF, dbias, dw, dY, saved, w, N);
}
