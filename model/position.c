/* position.c -- sinusoidal positions, and the gradient of learned ones.
 *
 *   P[p,k]       = sin(p / 10000^(k / (D/2)))        k = 0 .. ⌈D/2⌉-1
 *   P[p,⌈D/2⌉+k] = cos(p / 10000^(k / (D/2)))        k = 0 .. ⌊D/2⌋-1
 *
 * Vaswani et al. 2017, §3.5, with sines and cosines in two halves instead of interleaved, as
 * MarianMT has them: a permutation of columns, which the first matrix of weights absorbs.
 *
 * Learned positions (Gehring et al. 2017, §3.1; the paper's table 3, row E) are weights of their
 * own, one table for the source and one for the target. embedding.c adds P, whichever it is:
 *
 *   forward    x_n = dropout(√D · E[id_n] + P[position of n in its sentence])
 *   backward   dP[position of n] += dropout(dx_n)          row after row, in their order */
#include "model/position.h"

#include <math.h>
#include <stddef.h>

void position_table(real *P, int count, int D)
{
    int sines = (D + 1) / 2;
    for (int p = 0; p < count; p++) {
        real *row = P + (size_t)p * (size_t)D;
        for (int k = 0; k < D; k++) {
            int wave = k < sines ? k : k - sines;
            double angle = p / pow(10000, 2.0 * wave / D);
            row[k] = (real)(k < sines ? sin(angle) : cos(angle));
        }
    }
}

void position_backward(real *dP, const real *dX, const Packed *rows, const uint8_t *keep,
                       real scale, int D)
{
    size_t d = (size_t)D;
    for (int s = 0; s < rows->sentences; s++)
        for (int n = rows->start[s]; n < rows->start[s + 1]; n++) {
            real *dp = dP + (size_t)(n - rows->start[s]) * d;
            const real *dx = dX + (size_t)n * d;
            if (keep) {
                const uint8_t *kept = keep + (size_t)n * d;
#pragma omp simd
                for (int k = 0; k < D; k++) dp[k] += dx[k] * (scale * (real)kept[k]);
            } else {
#pragma omp simd
                for (int k = 0; k < D; k++) dp[k] += dx[k];
            }
        }
}
