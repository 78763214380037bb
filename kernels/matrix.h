/* matrix.h -- a matrix of weights as inference uses it: made ready once, multiplied often.
 *
 *   float   the same numbers, in the order in which a product reads them (panels.h)
 *   int8    a quarter of the bytes, and products of integers (int8.h)
 *
 * Training, whose weights change with every update, multiplies by them as they lie (gemm.h). */
#ifndef KERNELS_MATRIX_H
#define KERNELS_MATRIX_H

#include "base/arena.h"
#include "kernels/int8.h"

typedef enum { MATRIX_FLOAT, MATRIX_INT8 } MatrixKind;

typedef struct Matrix {
    MatrixKind kind;
    int rows, columns;  // of W: [D_out,D_in] of a layer, [V,D] of an embedding
    real *panels;       // float
    Int8Panels int8;
} Matrix;

/* Takes the memory; measures if the arena is a measuring one. */
void matrix_layout(Matrix *matrix, Arena *arena, MatrixKind kind, int rows, int columns);

/* All of it (=) W [rows,columns]. */
void matrix_set(Matrix *matrix, const real *W);

/* Y [N,count] (=) X Wᵀ + b with the first `count` rows of W.   X [N,columns]   b [count] or NULL */
void matrix_multiply(real *Y, const real *X, const Matrix *matrix, const real *b, int N,
                     int count);

/* x [columns] (=) a row of W, as it was rounded. */
void matrix_row(real *x, const Matrix *matrix, int row);

#endif
