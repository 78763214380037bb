/* layernorm.c -- add what a sublayer computed, normalise each row to mean 0 and variance 1, then
 * scale and shift.
 *
 *   forward    x = X + dropout(F + bias)
 *              x̂ = (x - mean) · rstd,   rstd = 1 / sqrt(var + 1e-5),   y = g ⊙ x̂ + b
 *   backward   u = dy ⊙ g
 *              dx = rstd · (u - avg(u) - x̂ · avg(u ⊙ x̂))      dg += dy ⊙ x̂      db += dy
 *              dF = dropout(dx)                                  dbias += Σ_rows dF
 *
 * var divides by D (biased), eps is inside the root: Ba et al. 2016 (arXiv 1607.06450). */
#include "model/layernorm.h"

#include <math.h>

void layernorm_layout(LayerNormSaved *saved, Arena *arena, int N, int D)
{
    saved->normal = ARENA_TAKE(arena, real, (size_t)N * (size_t)D);
    saved->rstd = ARENA_TAKE(arena, real, (size_t)N);
}

/* x = X + dropout(F + bias), and the sum of its numbers. */
static real add_row(real *x, const real *X, const real *F, const real *bias,
                    const uint8_t *keep, real scale, int D)
{
    real sum = 0;
    if (keep) {
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < D; k++) {
            x[k] = X[k] + (F[k] + bias[k]) * (scale * (real)keep[k]);
            sum += x[k];
        }
    } else {
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < D; k++) {
            x[k] = X[k] + (F[k] + bias[k]);
            sum += x[k];
        }
    }
    return sum;
}

void layernorm_forward(real *Y, LayerNormSaved *saved, const real *X, Branch branch,
                       NormWeights w, int N, int D)
{
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        real *x = saved->normal + at, *y = Y + at;
        real mean = add_row(x, X + at, branch.F + at, branch.bias,
                            branch.keep ? branch.keep + at : NULL, branch.scale, D) / (real)D;
        real var = 0;
#pragma omp simd reduction(+ : var)
        for (int k = 0; k < D; k++) var += (x[k] - mean) * (x[k] - mean);
        real rstd = 1 / (real)sqrt(var / (real)D + (real)1e-5);
        saved->rstd[n] = rstd;
#pragma omp simd
        for (int k = 0; k < D; k++) {
            x[k] = (x[k] - mean) * rstd;
            y[k] = w.g[k] * x[k] + w.b[k];
        }
    }
}

void layernorm_backward(real *dX, real *dF, real *dbias, NormWeights dw, const real *dY,
                        const LayerNormSaved *saved, Branch branch, NormWeights w, int N, int D)
{
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        const real *dy = dY + at, *x = saved->normal + at;
        real *dx = dX + at;
        real sum_u = 0, sum_ux = 0;
#pragma omp simd reduction(+ : sum_u, sum_ux)
        for (int k = 0; k < D; k++) {
            real u = dy[k] * w.g[k];
            sum_u += u;
            sum_ux += u * x[k];
            dw.g[k] += dy[k] * x[k];
            dw.b[k] += dy[k];
        }
        real rstd = saved->rstd[n], avg_u = sum_u / (real)D, avg_ux = sum_ux / (real)D;
        if (branch.keep) {
            const uint8_t *keep = branch.keep + at;
            real *df = dF + at;
#pragma omp simd
            for (int k = 0; k < D; k++) {
                dx[k] = rstd * (dy[k] * w.g[k] - avg_u - x[k] * avg_ux);
                df[k] = dx[k] * (branch.scale * (real)keep[k]);
                dbias[k] += df[k];
            }
        } else {
#pragma omp simd
            for (int k = 0; k < D; k++) {
                dx[k] = rstd * (dy[k] * w.g[k] - avg_u - x[k] * avg_ux);
                dbias[k] += dx[k];
            }
        }
    }
}
