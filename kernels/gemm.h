/* gemm.h -- matrix products, the three forms that a network needs.
 *
 * All matrices are row-major and dense. SET overwrites C, ADD adds to it. Each product runs on
 * one thread: the parallelism is over micro-batches.
 *
 * OpenBLAS computes them, except where this processor has AVX-512 and there are some rows: there
 * our own blocks around tile.h are faster, by 1.2 to 1.3 at widths of 128 and 256 (docs/speed.md;
 * OpenBLAS 0.3.21). small_gemm is for attention, whose matrices are a few dozen rows. */
#ifndef KERNELS_GEMM_H
#define KERNELS_GEMM_H

#include "kernels/panels.h"

#include <stdbool.h>

/* C [m,n] = A [m,k] · B [n,k]ᵀ          Y  = X Wᵀ       + bias [n] in every row, or NULL: none */
void gemm_nt(GemmMode mode, real *C, const real *A, const real *B, const real *bias, int m,
             int n, int k);
/* C [m,n] = A [m,k] · B [k,n]           dX = dY W */
void gemm_nn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);
/* C [m,n] = A [k,m]ᵀ · B [k,n]          dW = dYᵀ X */
void gemm_tn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);

/* dW = dYᵀ X where one X is multiplied often, by one block of dY's columns after the other: what a
 * product would copy of X is copied once. */
typedef struct Repeated {
    const real *B;       // [k,n]
    const real *panels;  // NULL: OpenBLAS multiplies
    int n, k;
} Repeated;

/* room: panels_size(n, k) reals, aligned as arena.h aligns, which must last as long as B */
Repeated gemm_repeated(real *room, const real *B, int n, int k);
/* C [m,n] = A [k,m]ᵀ · B [k,n] */
void gemm_tn_repeated(GemmMode mode, real *C, const real *A, const Repeated *B, int m);

/* X Wᵀ + b by a W that is multiplied often: it lies in panels (panels.h), so that a product copies
 * nothing. It needs no BLAS for any number of rows, and a row of C does not depend, not in one bit,
 * on which other rows are computed with it. gemm_packs: whether this build's own tile is worth
 * packing for; only then call the next.
 * C [m,n] (=) A [m,k] · B [n,k]ᵀ + bias [n] in every row, or NULL. Of a larger B, the first n. */
bool gemm_packs(void);
void gemm_nt_panels(real *C, const real *A, const real *B, const real *bias, int m, int n,
                    int k);

/* A large W lies in panels while it is trained, too, and so does dW. Y = X Wᵀ is then as above,
 * dX = dY W copies W as ever, and a tile of dW is one piece of memory, not 14: in all 4 % of a
 * training of base (docs/speed.md). Where W has few columns, what dW copies of dY costs more.
 * gemm_in_panels: whether W [n,k] is large enough; only then call the others. */
bool gemm_in_panels(int n, int k);
/* C [m,n] = A [m,k] · B [k,n], and B in panels of its rows */
void gemm_nn_panels(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);
/* C [m,n] = A [k,m]ᵀ · B [k,n], and C in panels of its rows */
void gemm_tn_panels(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k);

/* One thread inside each product; call before the first. */
void gemm_setup(void);

/* C [m,n], rows ldc apart, = scale · A [m,k] · B [k,n], rows ldb apart. m > 0 */
void small_gemm(real *C, int ldc, Strided A, const real *B, int ldb, int m, int n, int k,
                real scale);

#endif
