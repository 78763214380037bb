/* rdrop.c -- R-Drop: two label-smoothed cross-entropies and the KL divergence between their
 * distributions, over C = V-1 classes; see rdrop.h, and loss.c for a single one.
 *
 *   forward    z = X Eᵀ + bias                              of a row: z, of its copy: z'
 *              p = softmax(z),  q = softmax(z')                   ln p_c = z_c - lse
 *              d_c = ln p_c - ln q_c = (z_c - z'_c) - (lse - lse')
 *              K = KL(p‖q) = Σ_c p_c d_c                          K' = KL(q‖p) = -Σ_c q_c d_c
 *              objective = CE + CE' + a (K + K'),   a = A / 2
 *   backward   ∂K/∂z_k = p_k (d_k - K)         by p (δ - p) of the softmax; Σ p_c ∂d_c/∂z_k = 0
 *              ∂K'/∂z_k = p_k - q_k             as for any cross-entropy against fixed q
 *              dz_k  = scale · (p_k (1 + a (1 + d_k - K))  - a q_k - (1-ε) [k = t] - ε/C)
 *              dz'_k = scale · (q_k (1 + a (1 - d_k - K')) - a p_k - (1-ε) [k = t] - ε/C)
 *              dX = dz E       dE += dzᵀ X       dbias += Σ_rows dz
 *
 * Σ p_c (z_c - z'_c) is summed chunk by chunk, as lse is, from e^(z - m), m the chunk's
 * largest. Backward reads the logits, which d needs, and e^(m - lse). */
#include "model/rdrop.h"

#include <math.h>

#include "kernels/vecexp.h"

real rdrop_chunk(real *largest, real *weighted, double *total, const real *z, const real *copy,
                 int width)
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

double rdrop_row(double *lse, real *sum, const real *largest, const real *weighted, int chunks)
{
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

void rdrop_chunk_backward(real *z, real *copy, RDropRow row, RDropRow copy_row, real lse_change,
                          real a, real scale, real uniform, int width)
{
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) {
        real p = row.factor * vec_exp(z[c] - row.largest),
             q = copy_row.factor * vec_exp(copy[c] - copy_row.largest);
        real d = z[c] - copy[c] - lse_change;
        z[c] = scale * (p * (1 + a * (1 + d - row.divergence)) - a * q - uniform);
        copy[c] = scale * (q * (1 + a * (1 - d - copy_row.divergence)) - a * p - uniform);
    }
}
