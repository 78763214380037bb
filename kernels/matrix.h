/* matrix.h -- a matrix of weights W, in any of the layouts in which it can be multiplied.
 *
 *   rows     row by row, as files store it and as gemm.h multiplies it
 *   packed   the same floats, in the order in which a product reads them (panels.h)
 *   int8     a quarter of the bytes, multiplied as integers (int8.h); only for inference
 *
 * In training, a large W is packed in the memory of its rows, and so is dW: Y = X Wᵀ copies
 * nothing, dX = dY W copies as with rows, and a tile of dW is one piece of memory instead of
 * 14. Training `base` becomes 4 % faster (docs/speed.md). Where W has few columns, copying dY
 * costs more than that. For inference, packed and int8 matrices have memory of their own
 * (matrix_take). A W whose products round to bfloat16 stays in rows: they copy all factors.
 *
 * W is [rows,columns]: [D_out,D_in] of a layer, [V,D] of an embedding. */
#pragma once

#include "base/arena.h"
#include "kernels/gemm.h"
#include "kernels/int8.h"

typedef enum { MATRIX_ROWS, MATRIX_PACKED, MATRIX_INT8 } MatrixLayout;

typedef struct Matrix {
    MatrixLayout layout;
    GemmMode precision;      // of rows: SET, or BF16 to round the factors of each product
    real *at;                // rows, packed
    const Int8Matrix *int8;  // int8
} Matrix;

/* The layout in which W is trained. */
MatrixLayout matrix_layout_trained(int rows, int columns);

/* Change W in place from rows to its layout, or back. They do nothing for MATRIX_ROWS. The
 * sizes must be those for which matrix_layout_trained returns the layout. */
void matrix_pack(MatrixLayout layout, real *W, int rows, int columns);
void matrix_unpack(MatrixLayout layout, real *W, int rows, int columns);

/* to [rows,columns] (=) W, row by row */
void matrix_copy_rows(real *to, MatrixLayout layout, const real *W, int rows, int columns);

/* A packed or int8 matrix in memory of the arena; measures if the arena is a measuring one.
 * Fill it with matrix_set, or int8_put. */
Matrix matrix_take(Arena *arena, MatrixLayout layout, int rows, int columns);

/* Rows first .. of a matrix (=) W [rows,columns], converted to its layout. Several threads can
 * set different rows. */
void matrix_set(const Matrix *matrix, int first, const real *W, int rows, int columns);

/* A row of W, [columns]: in place, or copied to x if W does not lie in rows. */
const real *matrix_row(real *x, const Matrix *W, int row, int columns);

/* Y [N,rows] (=) X Wᵀ + b   X [N,columns]   b [rows] or NULL
 * W may have more rows; only the first ones are used. */
void matrix_multiply(real *Y, const real *X, const Matrix *W, const real *b, int N, int rows,
                     int columns);

/* dX [N,columns] (mode) = dY W   dW [rows,columns] (+=) dYᵀ X   dY [N,rows]   X, W as in
 * matrix_multiply, not int8 */
void matrix_backward(GemmMode mode, real *dX, const Matrix *dW, const real *dY, const real *X,
                     const Matrix *W, int N, int rows, int columns);
