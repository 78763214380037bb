/* rdrop.c -- R-Drop: every sentence is there twice, with different dropout masks. The KL
 * divergence between the distributions p = softmax(z) of a row and q = softmax(z') of its copy is
 * added to the sum of their cross-entropies.
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
#include "model/rdrop.h"

#include <math.h>

#include "kernels/vecexp.h"

real rdrop_exponentials(const real *z, const real *copy, real *largest, real *weighted,
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

/* Returns Σ_c p_c (z_c - z'_c) of a row; its `sum` become e^(m - lse). lse (=) */
static double difference(double *lse, const RDropRow *row, int chunks)
{
    const real *largest = row->largest;
    real *sum = row->sum;
    double top = (double)largest[0], all = 0, product = 0;
    for (int k = 1; k < chunks; k++) top = fmax(top, (double)largest[k]);
    for (int k = 0; k < chunks; k++) {
        double e = exp((double)largest[k] - top);
        all += (double)sum[k] * e;
        product += (double)row->weighted[k] * e;
        sum[k] = (real)e;
    }
    for (int k = 0; k < chunks; k++) sum[k] = (real)((double)sum[k] / all);
    *lse = top + log(all);
    return product / all;
}

double rdrop_divergence(double lse[2], const RDropRow row[2], int chunks)
{
    double mean = difference(&lse[0], &row[0], chunks);
    double copy_mean = difference(&lse[1], &row[1], chunks), change = lse[0] - lse[1];
    double K = mean - change, K_copy = copy_mean + change;
    *row[0].KL = (real)K;
    *row[1].KL = (real)K_copy;
    return K + K_copy;
}

void rdrop_backward(real *z, real *copy, const RDropRow row[2], real lse_change, int k, real a,
                    real scale, real uniform, int width)
{
    real top = row[0].largest[k], factor = row[0].sum[k], K = *row[0].KL;
    real copy_top = row[1].largest[k], copy_factor = row[1].sum[k], K_copy = *row[1].KL;
#pragma omp simd simdlen(16)
    for (int c = 0; c < width; c++) {
        real p = factor * vec_exp(z[c] - top), q = copy_factor * vec_exp(copy[c] - copy_top);
        real d = z[c] - copy[c] - lse_change;
        z[c] = scale * (p * (1 + a * (1 + d - K)) - a * q - uniform);
        copy[c] = scale * (q * (1 + a * (1 - d - K_copy)) - a * p - uniform);
    }
}
