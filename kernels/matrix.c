/* matrix.c -- a matrix of weights in any layout; see matrix.h. */
#include "kernels/matrix.h"

#include "kernels/panels.h"

Matrix matrix_take(Arena *arena, bool int8, int rows, int columns)
{
    if (int8) return (Matrix){.int8 = int8_take(arena, rows, columns)};
    real *at = ARENA_TAKE(arena, real, panels_size(rows, columns));
    size_t whole = (size_t)(rows / TILE_COLUMNS * TILE_COLUMNS) * (size_t)columns;
    if (at) memset(at + whole, 0, (panels_size(rows, columns) - whole) * sizeof *at);
    return (Matrix){at, PANELS, NULL};
}

void matrix_set(const Matrix *matrix, int first, const real *W, int rows, int columns)
{
    if (matrix->int8) int8_quantise(matrix->int8, first, W, rows);
    else panels_put(matrix->at, first, W, rows, columns);
}

const real *matrix_row(real *x, const Matrix *W, int row, int columns)
{
    if (W->int8) int8_dequantise(x, W->int8, row);
    else if (W->mode & PANELS) panels_row(x, W->at, row, columns);
    else return W->at + (size_t)row * (size_t)columns;
    return x;
}

void matrix_multiply(real *Y, const real *X, const Matrix *W, const real *b, int N, int rows,
                     int columns)
{
    if (W->int8) int8_multiply(Y, X, W->int8, b, N, rows);
    else gemm_nt(W->mode, Y, X, W->at, b, N, rows, columns);
}

_Static_assert(MATRIX_PANEL % TILE_COLUMNS == 0,
               "panels of matrix.h begin where those of panels.h do");

void matrix_multiply_panel(real *y, const real *x, const Matrix *W, const real *b, int first,
                           int rows, int columns)
{
    const real *panel = W->at + (size_t)first * (size_t)columns;
    gemm_nt(PANELS, y, x, panel, b + first, 1, rows, columns);
}
