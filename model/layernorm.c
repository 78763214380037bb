/* layernorm.c -- add what a sublayer computed, normalise each row to mean 0 and variance 1, then
 * scale and shift.
 *
 *   forward    x = X + dropout(F + bias)
 *              x̂ = (x - mean) · rstd,   rstd = 1 / sqrt(var + 1e-5),   y = g ⊙ x̂ + b
 *   backward   u = dy ⊙ g
 *              dx = rstd · (u - avg(u) - x̂ · avg(u ⊙ x̂))      dg += dy ⊙ x̂      db += dy
 *                   (+ the dx that came past the norm, where x itself goes on, too)
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

static real row_sum(const real *x, int D)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < D; k++) sum += x[k];
    return sum;
}

void layernorm_forward(real *Y, real *sum, LayerNormSaved *saved, const real *X, Branch branch,
                       NormWeights w, int N, int D)
{
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        real *normal = saved->normal + at, *y = Y + at, mean;
        const real *x = branch.F ? sum + at : X + at;
        if (branch.F)
            mean = add_row(sum + at, X + at, branch.F + at, branch.bias,
                           branch.keep ? branch.keep + at : NULL, branch.scale, D) /
                   (real)D;
        else mean = row_sum(x, D) / (real)D;
        real var = 0;
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

/* One row of u and x̂, and what follows from their averages. */
typedef struct Row {
    const real *dy, *g, *x;
    real rstd, avg_u, avg_ux;
} Row;

/* dx, df and dbias of one row, in a loop without conditions: `add` is known where this is
 * inlined. */
static inline __attribute__((always_inline)) void row_backward(bool add, real *dx, real *df,
                                                               real *dbias, Row r,
                                                               const uint8_t *keep, real scale,
                                                               int D)
{
    if (keep) {
#pragma omp simd
        for (int k = 0; k < D; k++) {
            real through = r.rstd * (r.dy[k] * r.g[k] - r.avg_u - r.x[k] * r.avg_ux);
            dx[k] = add ? dx[k] + through : through;
            df[k] = dx[k] * (scale * (real)keep[k]);
            dbias[k] += df[k];
        }
    } else if (dbias) {
#pragma omp simd
        for (int k = 0; k < D; k++) {
            real through = r.rstd * (r.dy[k] * r.g[k] - r.avg_u - r.x[k] * r.avg_ux);
            dx[k] = add ? dx[k] + through : through;
            dbias[k] += dx[k];
        }
    } else {
#pragma omp simd
        for (int k = 0; k < D; k++) {
            real through = r.rstd * (r.dy[k] * r.g[k] - r.avg_u - r.x[k] * r.avg_ux);
            dx[k] = add ? dx[k] + through : through;
        }
    }
}

void layernorm_backward(GemmMode mode, real *dX, real *dF, real *dbias, NormWeights dw,
                        const real *dY, const LayerNormSaved *saved, Branch branch,
                        NormWeights w, int N, int D)
{
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        const real *dy = dY + at, *x = saved->normal + at;
        real sum_u = 0, sum_ux = 0;
#pragma omp simd reduction(+ : sum_u, sum_ux)
        for (int k = 0; k < D; k++) {
            real u = dy[k] * w.g[k];
            sum_u += u;
            sum_ux += u * x[k];
            dw.g[k] += dy[k] * x[k];
            dw.b[k] += dy[k];
        }
        Row row = {dy, w.g, x, saved->rstd[n], sum_u / (real)D, sum_ux / (real)D};
        real *dx = dX + at, *df = branch.keep ? dF + at : NULL;
        const uint8_t *keep = branch.keep ? branch.keep + at : NULL;
        if (mode == ADD) row_backward(true, dx, df, dbias, row, keep, branch.scale, D);
        else row_backward(false, dx, df, dbias, row, keep, branch.scale, D);
    }
}
