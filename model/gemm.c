/* gemm.c -- matrix products: OpenBLAS for the large ones, our own kernel for attention's. */
#include "model/gemm.h"

#include <cblas.h>

#ifdef REAL_IS_DOUBLE
#define CBLAS_GEMM cblas_dgemm
#else
#define CBLAS_GEMM cblas_sgemm
#endif

void gemm_setup(void)
{
    openblas_set_num_threads(1);
}

void gemm_nt(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    CBLAS_GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, A, k, B, k, mode == ADD, C,
               n);
}

void gemm_nn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    CBLAS_GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n, mode == ADD,
               C, n);
}

void gemm_tn(GemmMode mode, real *C, const real *A, const real *B, int m, int n, int k)
{
    CBLAS_GEMM(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, A, m, B, n, mode == ADD, C,
               n);
}

/* A tile of C stays in registers while k runs: ROWS · COLUMNS sums, each step one row of B and
 * ROWS numbers of A. The compiler unrolls it, as both sizes are constants where it is called. */
enum { ROWS = 4, COLUMNS = 32 };

static inline __attribute__((always_inline)) void tile(real *C, int ldc, Strided A,
                                                       const real *B, int ldb, int rows,
                                                       int columns, int k, real scale)
{
    real sum[ROWS][COLUMNS] = {{0}};
    for (int p = 0; p < k; p++)
        for (int i = 0; i < rows; i++) {
            real a = A.at[i * A.row + p * A.column];
#pragma omp simd
            for (int j = 0; j < columns; j++) sum[i][j] += a * B[p * ldb + j];
        }
    for (int i = 0; i < rows; i++)
#pragma omp simd
        for (int j = 0; j < columns; j++) C[i * ldc + j] = scale * sum[i][j];
}

void small_gemm(real *C, int ldc, Strided A, const real *B, int ldb, int m, int n, int k,
                real scale)
{
    for (int j = 0; j < n;) {
        int columns = n - j >= 32 ? 32 : n - j >= 16 ? 16 : n - j;
        for (int i = 0; i < m;) {
            int rows = m - i >= ROWS ? ROWS : 1;
            Strided a = {A.at + i * A.row, A.row, A.column};
            real *c = C + i * ldc + j;
            if (rows == ROWS && columns == 32)
                tile(c, ldc, a, B + j, ldb, ROWS, 32, k, scale);
            else if (rows == ROWS && columns == 16)
                tile(c, ldc, a, B + j, ldb, ROWS, 16, k, scale);
            else if (columns == 32)
                tile(c, ldc, a, B + j, ldb, 1, 32, k, scale);
            else if (columns == 16)
                tile(c, ldc, a, B + j, ldb, 1, 16, k, scale);
            else
                tile(c, ldc, a, B + j, ldb, rows, columns, k, scale);
            i += rows;
        }
        j += columns;
    }
}
