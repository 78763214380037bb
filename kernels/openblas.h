/* openblas.h -- products by OpenBLAS's sgemm, where kind.h chooses it.
 *
 * The library is loaded by kind_check, not linked: a program that does not choose it starts
 * without it. While it is loaded, OPENBLAS_NUM_THREADS is 1, so that it starts no threads of its
 * own; the parallelism is over micro-batches. It is never told another number of threads: if the
 * host of libqkv has loaded the same library with more, openblas_load refuses, since the number
 * is the host's. A host that loads it later finds one thread.
 *
 * OpenBLAS waits for ever if memory for a product runs out (128 MB of addresses on x86-64, of
 * which few are touched). So openblas_load makes it map the memory of one product for each
 * processor, as far as there is memory; if there are more threads than that, they wait for each
 * other. */
#pragma once

#include "base/error.h"
#include "kernels/tile.h"

/* WebAssembly loads no library, and the code in double has no use for it. */
#if defined __wasm__ || defined REAL_IS_DOUBLE
#define HAS_OPENBLAS 0
#else
#define HAS_OPENBLAS 1
#endif
enum { OPENBLAS_NAME = 48 };

#if HAS_OPENBLAS
/* Loads the library, once; false, with an error, if that fails. */
bool openblas_load(Error *error);

/* "0.3.21-haswell": its version, and the core for which it computes. After openblas_load. */
const char *openblas_name(void);

/* C [m,n], rows ldc apart, (mode: SET or ADD) = scale · A [m,k] · B [k,n] + bias [n] in every
 * row, or NULL: none; with a bias scale is 1. m, n, k > 1 */
void openblas_multiply(GemmMode mode, real *C, size_t ldc, Strided A, Strided B,
                       const real *bias, int m, int n, int k, real scale);
#else
#define openblas_load(error)   error_set(error, "this build has no OpenBLAS")
#define openblas_name()        ""
#define openblas_multiply(...) ((void)0)
#endif
