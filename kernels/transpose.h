/* transpose.h -- the transpose of a square that fits the registers.
 *
 *     a b c d      a i b j      a e i m      A step interleaves each row of the first half with the
 *     e f g h  ->  c k d l  ->  b f j n      one of the second half that stands as far from its
 *     i j k l      e m f n      c g k o      half's beginning. After log₂ LANES steps every number
 *     m n o p      g o h p      d h l p      is in its place. */
#pragma once

#include "kernels/tile.h"

/* The numbers of two vectors in turn: of their first halves, and of their second halves. */
#if defined REAL_IS_DOUBLE || !__has_builtin(__builtin_shufflevector)
#elif defined __AVX512F__ || defined WIDE
#define FIRST_HALVES  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define SECOND_HALVES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif defined __AVX__
#define FIRST_HALVES  0, 8, 1, 9, 2, 10, 3, 11
#define SECOND_HALVES 4, 12, 5, 13, 6, 14, 7, 15
#else
#define FIRST_HALVES  0, 4, 1, 5
#define SECOND_HALVES 2, 6, 3, 7
#endif

/* T [LANES,LANES], rows ldt apart, (=) the transpose of X [rows,LANES], rows ldx apart, padded
 * with zeros to LANES rows. rows <= LANES */
static inline void transpose_square(real *T, size_t ldt, const real *X, size_t ldx, int rows)
{
#ifdef FIRST_HALVES
    Vector a[LANES], b[LANES];
    for (int i = 0; i < LANES; i++)
        a[i] = i < rows ? *(const Vector *)(X + (size_t)i * ldx) : (Vector){0};
    for (int step = 1; step < LANES; step *= 2) {
        for (int i = 0; i < LANES / 2; i++) {
            b[2 * i] = __builtin_shufflevector(a[i], a[i + LANES / 2], FIRST_HALVES);
            b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + LANES / 2], SECOND_HALVES);
        }
        for (int i = 0; i < LANES; i++) a[i] = b[i];
    }
    for (int i = 0; i < LANES; i++) *(Vector *)(T + (size_t)i * ldt) = a[i];
#else
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++)
            T[(size_t)j * ldt + (size_t)i] = i < rows ? X[(size_t)i * ldx + (size_t)j] : 0;
#endif
}
