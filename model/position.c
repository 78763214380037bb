/* position.c -- sinusoidal positional encoding.
 *
 *   P[p,k]       = sin(p / 10000^(k / (D/2)))        k = 0 .. ⌈D/2⌉-1
 *   P[p,⌈D/2⌉+k] = cos(p / 10000^(k / (D/2)))        k = 0 .. ⌊D/2⌋-1
 *
 * Vaswani et al. 2017, §3.5. The paper interleaves sines and cosines; MarianMT and this code
 * put all sines first. The first weight matrix absorbs this permutation of columns.
 *
 * Learned positions (Gehring et al. 2017, §3.1; the paper's table 3, row E) are weights
 * instead, one table for the source and one for the target. embedding.c adds P and computes
 * dP. */
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
