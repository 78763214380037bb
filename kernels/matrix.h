/* matrix.h -- a matrix of weights W, in any of the layouts in which it can be multiplied.
 *
 *   rows     row by row, as files store it, training needs it and gemm.h multiplies it
 *   packed   the same floats, in the order in which a product reads them (panels.h)
 *   int8     a quarter of the bytes, multiplied as integers (int8.h)
 *
 * Packed and int8 matrices are for inference, and have memory of their own (matrix_take).
 *
 * W is [rows,columns]: [D_out,D_in] of a layer, [V,D] of an embedding. */
#pragma once

#include "base/arena.h"
#include "kernels/gemm.h"
#include "kernels/int8.h"

typedef struct Matrix {
    real *at;       // rows, packed
    GemmMode mode;  // rows: SET, or BF16 to round the factors of products; packed: PANELS
    const Int8Matrix *int8;  // int8; else NULL
} Matrix;

/* A packed or int8 matrix in memory of the arena; measures if the arena is a measuring one.
 * Fill it with matrix_set, or int8_put. */
Matrix matrix_take(Arena *arena, bool int8, int rows, int columns);

/* Rows first .. of a packed or int8 matrix (=) W [rows,columns], converted to its layout. Several
 * threads can set different rows. */
void matrix_set(const Matrix *matrix, int first, const real *W, int rows, int columns);

/* A row of W, [columns]: in place, or copied to x if W does not lie in rows. */
const real *matrix_row(real *x, const Matrix *W, int row, int columns);

/* Y [N,rows] (=) X Wᵀ + b   X [N,columns]   b [rows] or NULL
 * W may have more rows; only the first ones are used. */
void matrix_multiply(real *Y, const real *X, const Matrix *W, const real *b, int N, int rows,
                     int columns);

/* y [rows] (=) rows first .. of a packed W times x, + b: the bits of matrix_multiply.
 * first: a multiple of MATRIX_PANEL   rows: at most MATRIX_PANEL   x [columns]   b [..]: of all rows */
enum { MATRIX_PANEL = 32 };
void matrix_multiply_panel(real *y, const real *x, const Matrix *W, const real *b, int first,
                           int rows, int columns);
