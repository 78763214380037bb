/* position.c -- sinusoidal positions.
 *
 *   P[p,k]       = sin(p / 10000^(k / (D/2)))        k = 0 .. ⌈D/2⌉-1
 *   P[p,⌈D/2⌉+k] = cos(p / 10000^(k / (D/2)))        k = 0 .. ⌊D/2⌋-1
 *
 * Vaswani et al. 2017, §3.5, with sines and cosines in two halves instead of interleaved, as
 * MarianMT has them: a permutation of columns, which the first matrix of weights absorbs.
 * Nothing is learned, so there is no backward. */
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
