/* matrix.c -- a matrix of weights in either form; see matrix.h. */
#include "kernels/matrix.h"

#include "kernels/gemm.h"

void matrix_layout(Matrix *matrix, Arena *arena, MatrixKind kind, int rows, int columns)
{
    *matrix = (Matrix){.kind = kind, .rows = rows, .columns = columns};
    switch (kind) {
    case MATRIX_FLOAT:
        matrix->panels = ARENA_TAKE(arena, real, panels_size(rows, columns));
        break;
    case MATRIX_INT8: int8_layout(&matrix->int8, arena, rows, columns); break;
    }
}

void matrix_set(Matrix *matrix, const real *W)
{
    switch (matrix->kind) {
    case MATRIX_FLOAT: panels_pack(matrix->panels, W, matrix->rows, matrix->columns); break;
    case MATRIX_INT8: int8_quantise(&matrix->int8, W); break;
    }
}

void matrix_multiply(real *Y, const real *X, const Matrix *matrix, const real *b, int N,
                     int count)
{
    switch (matrix->kind) {
    case MATRIX_FLOAT:
        gemm_nt_panels(Y, X, matrix->panels, b, N, count, matrix->columns);
        break;
    case MATRIX_INT8: int8_multiply(Y, X, &matrix->int8, b, N, count); break;
    }
}

void matrix_row(real *x, const Matrix *matrix, int row)
{
    switch (matrix->kind) {
    case MATRIX_FLOAT: panels_row(x, matrix->panels, row, matrix->columns); break;
    case MATRIX_INT8: int8_dequantise(x, &matrix->int8, row); break;
    }
}
