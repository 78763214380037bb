/* loss.c -- label-smoothed cross-entropy over C = V-1 classes (all but <pad>).
 *
 *   forward    z = X Eᵀ + bias
 *              p = softmax(z),   -ln p_c = lse - z_c,   lse = ln Σ_c e^(z_c)
 *              objective = (1-ε) (-ln p_t) + (ε/C) Σ_c (-ln p_c)
 *                        = lse - (1-ε) z_t - (ε/C) Σ_c z_c
 *   backward   dz_c = scale · (p_c - (1-ε) [c = t] - ε/C)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * Label smoothing as in Szegedy et al. 2016, §7: the target's share is 1-ε+ε/C. */
#include "model/loss.h"

#include <math.h>
#include <stddef.h>

#include "model/gemm.h"
#include "model/linear.h"
#include "model/vecexp.h"

real *loss_layout(Arena *arena, int M, int V)
{
    return ARENA_TAKE(arena, real, (size_t)(M < LOSS_BLOCK ? M : LOSS_BLOCK) * (size_t)V);
}

void loss_logits(real *Z, const real *X, const real *E, const real *bias, int M, int V, int D)
{
    linear_forward(Z, X, E, bias, M, V - 1, D);
}

/* Adds a row's loss; z (=) e^(z - largest), and returns its sum. */
static real row_loss(Loss *loss, real *z, int target, double smoothing, int C)
{
    real largest = z[0], sum = 0, total = 0, at_target = z[target];
#pragma omp simd reduction(max : largest)
    for (int c = 0; c < C; c++) largest = z[c] > largest ? z[c] : largest;
#pragma omp simd reduction(+ : sum, total)
    for (int c = 0; c < C; c++) {
        total += z[c] - largest;
        z[c] = vec_exp(z[c] - largest);
        sum += z[c];
    }
    double lse = log(sum), z_t = at_target - largest;
    loss->nll += lse - z_t;
    loss->objective += lse - (1 - smoothing) * z_t - smoothing / C * total;
    loss->tokens++;
    return sum;
}

void loss_forward(Loss *loss, const real *X, const real *E, const real *bias, const int *target,
                  double smoothing, real *block, int M, int V, int D)
{
    int C = V - 1;
    for (int first = 0; first < M; first += LOSS_BLOCK) {
        int rows = M - first < LOSS_BLOCK ? M - first : LOSS_BLOCK;
        loss_logits(block, X + (size_t)first * (size_t)D, E, bias, rows, V, D);
        for (int n = 0; n < rows; n++)
            row_loss(loss, block + (size_t)n * (size_t)C, target[first + n], smoothing, C);
    }
}

void loss_backward(Loss *loss, real *dX, real *dE, real *dbias, real scale, const real *X,
                   const real *E, const real *bias, const int *target, double smoothing,
                   real *block, int M, int V, int D)
{
    int C = V - 1;
    real others = scale * (real)(smoothing / C), own = scale * (real)(1 - smoothing);
    for (int first = 0; first < M; first += LOSS_BLOCK) {
        int rows = M - first < LOSS_BLOCK ? M - first : LOSS_BLOCK;
        size_t at = (size_t)first * (size_t)D;
        loss_logits(block, X + at, E, bias, rows, V, D);
        for (int n = 0; n < rows; n++) {
            real *z = block + (size_t)n * (size_t)C;
            real factor = scale / row_loss(loss, z, target[first + n], smoothing, C);
#pragma omp simd
            for (int c = 0; c < C; c++) z[c] = z[c] * factor - others;
            z[target[first + n]] -= own;
        }
        gemm_nn(SET, dX + at, block, E, rows, D, C);
        gemm_tn(ADD, dE, block, X + at, C, D, rows);
        if (dbias) bias_backward(dbias, block, rows, C);
    }
}
