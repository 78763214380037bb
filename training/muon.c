/* muon.c -- momentum, orthogonalised (Jordan et al. 2024, "Muon: an optimizer for hidden layers
 * in neural networks").
 *
 *   m = μ m + g,    u = g + μ m                    μ = 0.95; Nesterov's momentum
 *   X = u / ‖u‖                                    Frobenius: no singular value exceeds 1
 *   X = a X + (b A + c A²) X,    A = X Xᵀ          five times
 *   W = W - rate · 0.2 √max(rows, columns) · X
 *
 * An iteration (Newton-Schulz) maps each singular value s of X to a s + b s³ + c s⁵. Jordan's a,
 * b and c bring all but the smallest to between 0.7 and 1.2; README.md says what for. If W has
 * more rows than columns, A is Xᵀ X, on the right, which is smaller. */
#include "training/muon.h"

enum { ITERATIONS = 5 };
static const real MOMENTUM = 0.95f, a = 3.4445f, b = -4.775f, c = 2.0315f;

void muon_momentum(real *g, real *m, size_t count, double scale)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        real gradient = (real)scale * g[i];
        m[i] = MOMENTUM * m[i] + gradient;
        g[i] = gradient + MOMENTUM * m[i];
    }
}

size_t muon_workspace(int rows, int columns)
{
    size_t n = (size_t)at_most(rows, columns);
    return 2 * ((size_t)rows * (size_t)columns + n * n);
}

const real *muon_orthogonal(real *workspace, const real *u, int rows, int columns,
                            GemmMode precision)
{
    int n = at_most(rows, columns);
    size_t count = (size_t)rows * (size_t)columns, square = (size_t)n * (size_t)n;
    real *X = workspace, *Y = X + count, *A = Y + count, *B = A + square;
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += (double)u[i] * (double)u[i];
    if (squares == 0) return NULL;
    real norm = (real)sqrt(squares);
    for (size_t i = 0; i < count; i++) X[i] = u[i] / norm;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        if (rows > columns) gemm_tn(precision, A, X, X, n, n, rows);
        else gemm_nt(precision, A, X, X, NULL, n, n, columns);
        gemm_nn(precision, B, A, A, n, n, n);
        for (size_t i = 0; i < square; i++) B[i] = b * A[i] + c * B[i];
        if (rows > columns) gemm_nn(precision, Y, X, B, rows, n, n);
        else gemm_nn(precision, Y, B, X, n, columns, n);
        for (size_t i = 0; i < count; i++) X[i] = a * X[i] + Y[i];
    }
    return X;
}

void muon_update(real *W, const real *X, size_t count, double rate, int rows, int columns)
{
    real length = (real)(rate * 0.2 * sqrt(rows > columns ? rows : columns));
    for (size_t i = 0; i < count; i++) W[i] -= length * X[i];
}
