/* embedding.c -- token ids to vectors.
 *
 *   forward    x_n = √D · E[id_n] + P[position of n in its sentence]        then dropout
 *   backward   dE[id_n] += √D · dropout(dx_n)
 *              dP[position of n] += dropout(dx_n)                         if P is learned
 *
 *   P[p,k]       = sin(p / 10000^(k / (D/2)))        k = 0 .. ⌈D/2⌉-1           sinusoidal
 *   P[p,⌈D/2⌉+k] = cos(p / 10000^(k / (D/2)))        k = 0 .. ⌊D/2⌋-1
 *
 * Vaswani et al. 2017, §3.4: √D brings rows of length about 1 to the size of the positions. The
 * embedding can be shared with the target and the output (Press and Wolf 2017): dE adds up.
 *
 * Sinusoidal positions: §3.5. The paper interleaves sines and cosines; MarianMT and this code
 * put all sines first. The first weight matrix absorbs this permutation of columns. Learned
 * positions (Gehring et al. 2017, §3.1; the paper's table 3, row E) are weights instead, one
 * table for the source and one for the target. */
#include "model/embedding.h"

void position_table(real *P, int count, int D)
{
    int sines = (D + 1) / 2;
    for (int wave = 0; wave < sines; wave++) {
        double period = pow(10000, 2.0 * wave / D);
        real *column = P + wave;
        for (int p = 0; p < count; p++, column += D) {
            double angle = p / period;
            column[0] = (real)sin(angle);
            if (sines + wave < D) column[sines] = (real)cos(angle);
        }
    }
}

void embedding_forward(real *X, const Packed *rows, bool shifted, int pad, const Matrix *E,
                       const real *P, int D)
{
    real scale = (real)sqrt(D);
    size_t d = (size_t)D;
    for (int s = 0; s < rows->sentences; s++)
        for (int n = rows->start[s]; n < rows->start[s + 1]; n++) {
            int position = n - rows->start[s];
            // teacher forcing: the decoder reads <pad>, then the target shifted by one
            int id = !shifted ? rows->id[n] : position == 0 ? pad : rows->id[n - 1];
            real *x = X + (size_t)n * d;
            const real *e = matrix_row(x, E, id, D);
            if (P) {
                const real *p = P + (size_t)position * d;
#pragma omp simd
                for (int k = 0; k < D; k++) x[k] = scale * e[k] + p[k];
            } else {
#pragma omp simd
                for (int k = 0; k < D; k++) x[k] = scale * e[k];
            }
        }
}

/* d [D] (+=) factor · dropout(dx) */
static void add_row(real *d, real factor, const real *dx, const uint8_t *keep, real scale,
                    int D)
{
    if (keep) {
#pragma omp simd
        for (int k = 0; k < D; k++) d[k] += factor * dx[k] * (scale * (real)keep[k]);
    } else {
#pragma omp simd
        for (int k = 0; k < D; k++) d[k] += factor * dx[k];
    }
}

void embedding_backward(real *dE, real *dP, const real *dX, const Packed *rows, bool shifted,
                        const DropoutMask *mask, int D)
{
    real scale = (real)sqrt(D), kept = mask->scale;
    size_t d = (size_t)D;
    for (int s = 0; s < rows->sentences; s++)
        for (int n = rows->start[s]; n < rows->start[s + 1]; n++) {
            int position = n - rows->start[s];
            const real *dx = dX + (size_t)n * d;
            const uint8_t *keep = mask->keep ? mask->keep + (size_t)n * d : NULL;
            if (dP) add_row(dP + (size_t)position * d, 1, dx, keep, kept, D);
            if (position >= shifted)
                add_row(dE + (size_t)rows->id[n - shifted] * d, scale, dx, keep, kept, D);
        }
}
