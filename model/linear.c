/* linear.c -- a matrix of weights and a bias.
 *
 *   forward    Y = X Wᵀ + b
 *   backward   dX = dY W      dW += dYᵀ X      db += Σ_rows dY */
#include "model/linear.h"

void bias_backward(real *db, const real *dY, int N, int D)
{
    for (int n = 0; n < N; n++) {
        const real *dy = dY + (size_t)n * (size_t)D;
#pragma omp simd
        for (int k = 0; k < D; k++) db[k] += dy[k];
    }
}

void linear_forward(real *Y, const real *X, const Linear *w, int N, int D_out, int D_in)
{
    matrix_multiply(Y, X, &w->W, w->b, N, D_out, D_in);
}

void linear_backward(GemmMode mode, real *dX, const Linear *dw, const real *dY, const real *X,
                     const Linear *w, int N, int D_out, int D_in)
{
    bias_backward(dw->b, dY, N, D_out);
    gemm_tn(ADD | w->W.mode, dw->W.at, dY, X, D_out, D_in, N);
    gemm_nn(mode | w->W.mode, dX, dY, w->W.at, N, D_in, D_out);
}
