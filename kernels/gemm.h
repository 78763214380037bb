/* gemm.h -- matrix products, the three forms that a network needs.
 *
 * All matrices are row-major and dense. SET overwrites C, ADD adds to it; with BF16 the factors
 * are rounded to bfloat16 as they are copied (bf16.h). Each product runs on one thread: the
 * parallelism is over micro-batches. An element of C has the same bits whichever rows and
 * columns are computed with it; not if OpenBLAS multiplies (kind.h), whose last digits may depend
 * on m and n. Even then a product of the same sizes has the same bits, on any number of threads,
 * and products with panels, with BF16 and int8 stay ours. small_gemm is for attention, whose matrices are a few dozen
 * rows.
 *
 * Outside kernels/, matrix.h packs weights into panels. */
#pragma once

#include "kernels/tile.h"

/* C [m,n] = A [m,k] · B [n,k]ᵀ + bias [n] in every row; bias may be NULL        Y  = X Wᵀ + b
 * With PANELS, which only this form takes, B may have more rows than the n that are used. */
void gemm_nt(GemmMode mode, real *C, const real *A, const real *B, const real *bias, int m,
             int n, int k);
/* C [m,n] = A [m,k] · B [k,n]           dX = dY W */
void gemm_nn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);
/* C [m,n] = A [k,m]ᵀ · B [k,n]          dW = dYᵀ X */
void gemm_tn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);

/* C [m,n], rows ldc apart, = scale · A [m,k] · B [k,n], rows ldb apart. m > 0
 * gemm_strided copies blocks of B, as the products above do; small_gemm reads B in place. */
void gemm_strided(GemmMode mode, real *C, int ldc, Strided A, const real *B, int ldb, int m,
                  int n, int k, real scale);
void small_gemm(GemmMode mode, real *C, int ldc, Strided A, const real *B, int ldb, int m,
                int n, int k, real scale);
