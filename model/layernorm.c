/* layernorm.c -- layer normalisation (layer normalization, LayerNorm): each row gets mean 0 and
 * variance 1, and is scaled and shifted.
 *
 *   forward    x̂ = (x - mean) · rstd,   rstd = 1 / sqrt(var + 1e-5),   y = g ⊙ x̂ + b
 *   backward   u = dy ⊙ g
 *              dx = rstd · (u - avg(u) - x̂ · avg(u ⊙ x̂))      dg += dy ⊙ x̂      db += dy
 *
 * var divides by D (biased), eps is inside the root: Ba et al. 2016 (arXiv 1607.06450). */
#include "model/layernorm.h"

void layernorm_layout(LayerNormSaved *saved, Arena *arena, const ModelConfig *config, int N)
{
    saved->config = config;
    saved->normal = ARENA_TAKE(arena, real, (size_t)N * (size_t)config->d_model);
    saved->rstd = ARENA_TAKE(arena, real, (size_t)N);
}

void layernorm_forward(real *Y, LayerNormSaved *saved, const real *X, NormWeights w, int N)
{
    int D = saved->config->d_model;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        const real *x = X + at;
        real *normal = saved->normal + at, *y = Y + at, sum = 0, var = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < D; k++) sum += x[k];
        real mean = sum / (real)D;
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

void layernorm_backward(GemmMode mode, real *dX, NormWeights dw, const real *dY,
                        const LayerNormSaved *saved, NormWeights w, int N)
{
    int D = saved->config->d_model;
    for (int n = 0; n < N; n++) {
        size_t at = (size_t)n * (size_t)D;
        const real *dy = dY + at, *normal = saved->normal + at;
        real *dx = dX + at, sum_u = 0, sum_ux = 0, rstd = saved->rstd[n];
#pragma omp simd reduction(+ : sum_u, sum_ux)
        for (int k = 0; k < D; k++) {
            real u = dy[k] * w.g[k];
            sum_u += u;
            sum_ux += u * normal[k];
            dw.g[k] += dy[k] * normal[k];
            dw.b[k] += dy[k];
        }
        real avg_u = sum_u / (real)D, avg_ux = sum_ux / (real)D;
#pragma omp simd
        for (int k = 0; k < D; k++) {
            real own = rstd * (dy[k] * w.g[k] - avg_u - normal[k] * avg_ux);
            dx[k] = mode == ADD ? dx[k] + own : own;
        }
    }
}
