/* linear.c -- a matrix of weights and a bias.
 *
 *   forward    Y = X Wᵀ + b
 *   backward   dX = dY W      dW += dYᵀ X      db += Σ_rows dY */
#include "model/linear.h"

#include <stddef.h>

void bias_backward(real *db, const real *dY, int N, int D)
{
    for (int n = 0; n < N; n++) {
        const real *dy = dY + (size_t)n * (size_t)D;
#pragma omp simd
        for (int k = 0; k < D; k++) db[k] += dy[k];
    }
}

void linear_forward(real *Y, const real *X, const Linear *w, const real *b, int N, int D_out,
                    int D_in)
{
    if (w->ready) matrix_multiply(Y, X, w->ready, b, N, D_out);
    else if (w->in_panels) gemm_nt_panels(Y, X, w->W, b, N, D_out, D_in);
    else gemm_nt(SET, Y, X, w->W, b, N, D_out, D_in);
}

const real *linear_row(real *x, const Linear *w, int row, int D_in)
{
    if (w->ready) matrix_row(x, w->ready, row);
    else if (w->in_panels) panels_row(x, w->W, row, D_in);
    else return w->W + (size_t)row * (size_t)D_in;
    return x;
}

void linear_backward(GemmMode mode, real *dX, const Linear *dw, real *db, const real *dY,
                     const real *X, const Linear *w, int N, int D_out, int D_in)
{
    if (db) bias_backward(db, dY, N, D_out);
    if (w->in_panels) {
        gemm_tn_panels(ADD, dw->W, dY, X, D_out, D_in, N);
        gemm_nn_panels(mode, dX, dY, w->W, N, D_in, D_out);
    } else {
        gemm_tn(ADD, dw->W, dY, X, D_out, D_in, N);
        gemm_nn(mode, dX, dY, w->W, N, D_in, D_out);
    }
}
