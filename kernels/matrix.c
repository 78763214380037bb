/* matrix.c -- a matrix of weights in any layout; see matrix.h. */
#include "kernels/matrix.h"

#include <string.h>

#include "kernels/panels.h"

Matrix matrix_take(Arena *arena, MatrixLayout layout, int rows, int columns)
{
    if (layout == MATRIX_INT8)
        return (Matrix){.layout = layout, .int8 = int8_take(arena, rows, columns)};
    real *at = ARENA_TAKE(arena, real, panels_size(rows, columns));
    size_t whole = (size_t)(rows / TILE_COLUMNS * TILE_COLUMNS) * (size_t)columns;
    if (at) memset(at + whole, 0, (panels_size(rows, columns) - whole) * sizeof *at);
    return (Matrix){layout, SET, at, NULL};
}

void matrix_set(const Matrix *matrix, int first, const real *W, int rows, int columns)
{
    if (matrix->layout == MATRIX_INT8) int8_quantise(matrix->int8, first, W, rows);
    else panels_put(matrix->at, first, W, rows, columns);
}

const real *matrix_row(real *x, const Matrix *W, int row, int columns)
{
    if (W->layout == MATRIX_ROWS) return W->at + (size_t)row * (size_t)columns;
    if (W->layout == MATRIX_PACKED) panels_row(x, W->at, row, columns);
    else int8_dequantise(x, W->int8, row);
    return x;
}

void matrix_multiply(real *Y, const real *X, const Matrix *W, const real *b, int N, int rows,
                     int columns)
{
    switch (W->layout) {
    case MATRIX_ROWS: gemm_nt(W->precision, Y, X, W->at, b, N, rows, columns); break;
    case MATRIX_PACKED: gemm_nt_panels(Y, X, W->at, b, N, rows, columns); break;
    case MATRIX_INT8: int8_multiply(Y, X, W->int8, b, N, rows); break;
    }
}

_Static_assert(MATRIX_PANEL % TILE_COLUMNS == 0,
               "panels of matrix.h begin where those of panels.h do");

void matrix_multiply_panel(real *y, const real *x, const Matrix *W, const real *b, int first,
                           int rows, int columns)
{
    gemm_nt_panels(y, x, W->at + (size_t)first * (size_t)columns, b + first, 1, rows, columns);
}
