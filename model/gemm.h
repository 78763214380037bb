/* gemm.h -- matrix products, the three forms that a network needs.
 *
 * All matrices are row-major and dense. SET overwrites C, ADD adds to it. These are the only
 * calls into BLAS, and each runs on one thread: the parallelism is over micro-batches.
 *
 * small_* are our own kernels for attention, whose matrices are a few dozen rows and columns:
 * there OpenBLAS 0.3.21 gives 10 to 30 GFLOP/s of about 115. */
#ifndef MODEL_GEMM_H
#define MODEL_GEMM_H

#include "base/real.h"

typedef enum { SET, ADD } GemmMode;

/* C [m,n] = A [m,k] · B [n,k]ᵀ          Y  = X Wᵀ */
void gemm_nt(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);
/* C [m,n] = A [m,k] · B [k,n]           dX = dY W */
void gemm_nn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);
/* C [m,n] = A [k,m]ᵀ · B [k,n]          dW = dYᵀ X */
void gemm_tn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);

/* One thread inside each product; call before the first. */
void gemm_setup(void);

/* A small matrix A whose element [i,p] is at[i * row + p * column]: a transpose is a swap. */
typedef struct Strided {
    const real *at;
    int row, column;
} Strided;

/* C [m,n], rows ldc apart, = scale · A [m,k] · B [k,n], rows ldb apart. */
void small_gemm(real *C, int ldc, Strided A, const real *B, int ldb, int m, int n, int k,
                real scale);

#endif
