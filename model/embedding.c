/* embedding.c -- token ids to vectors.
 *
 *   forward    x_n = dropout(√D · E[id_n] + P[position of n in its sentence])
 *   backward   dE[id_n] += √D · dropout(dx_n)
 *
 * Vaswani et al. 2017, §3.4: √D brings rows of length about 1 to the size of the positions. The
 * table may be the target's and the output's, too (Press and Wolf 2017): dE adds up then. */
#include "model/embedding.h"

#include <math.h>
#include <stddef.h>

void embedding_forward(real *X, const Packed *rows, bool shifted, int pad, const Matrix *E,
                       const real *P, const uint8_t *keep, real scale, int D)
{
    real root = (real)sqrt(D);
    size_t d = (size_t)D;
    for (int s = 0; s < rows->sentences; s++)
        for (int n = rows->start[s]; n < rows->start[s + 1]; n++) {
            int position = n - rows->start[s];
            int id = !shifted ? rows->id[n] : position == 0 ? pad : rows->id[n - 1];
            real *x = X + (size_t)n * d;
            const real *e = matrix_row(x, E, id, D);
            if (P) {
                const real *p = P + (size_t)position * d;
#pragma omp simd
                for (int k = 0; k < D; k++) x[k] = root * e[k] + p[k];
            } else {
#pragma omp simd
                for (int k = 0; k < D; k++) x[k] = root * e[k];
            }
            if (!keep) continue;
            const uint8_t *kept = keep + (size_t)n * d;
#pragma omp simd
            for (int k = 0; k < D; k++) x[k] *= scale * (real)kept[k];
        }
}

void embedding_backward(real *dE, const real *dX, const Packed *rows, bool shifted,
                        const uint8_t *keep, real scale, int D)
{
    real root = (real)sqrt(D);
    size_t d = (size_t)D;
    for (int s = 0; s < rows->sentences; s++)
        for (int n = rows->start[s] + shifted; n < rows->start[s + 1]; n++) {
            real *de = dE + (size_t)rows->id[n - shifted] * d;
            const real *dx = dX + (size_t)n * d;
            if (keep) {
                const uint8_t *kept = keep + (size_t)n * d;
#pragma omp simd
                for (int k = 0; k < D; k++) de[k] += root * dx[k] * (scale * (real)kept[k]);
            } else {
#pragma omp simd
                for (int k = 0; k < D; k++) de[k] += root * dx[k];
            }
        }
}
