/* peak.h -- the speed of this processor's matrix multiplication, to compare with.
 *
 * Every worker runs OpenBLAS's single-threaded cblas_sgemm of 1024 x 1024 x 1024 at the same
 * time. That is large enough to hide packing and memory, and small enough (12 MB a worker,
 * about 20 ms a product) to be measured between two updates of a training. A machine's speed
 * changes from second to second with its temperature and its other work, so both must be
 * measured in the same second. */
#pragma once

#include "base/workers.h"

typedef struct Peak Peak;

/* Starts the program again if OpenBLAS multiplies with SSE3 only, as it does on processors that are
 * newer than itself, so that it uses AVX-512 or AVX2. Call it first; OPENBLAS_CORETYPE prevents it. */
void peak_restart(char **arguments);

/* Gives OpenBLAS one thread. Call it before anything multiplies. */
void peak_prepare(void);

/* Allocates and fills the matrices of every worker, and multiplies them once. NULL on error. */
Peak *peak_create(Workers *workers, Error *error);
void peak_free(Peak *peak);

/* Every worker computes `products` products. Returns the sum of the workers' FLOP/s, each
 * measured in its own time. */
double peak_burst(Peak *peak, int products);

/* The same for the innermost loops of our own products, which multiply numbers in the first-level
 * cache: what the instructions of this arithmetic can do. Takes as long as the last burst. */
typedef enum { ARITHMETIC_FLOAT, ARITHMETIC_BF16, ARITHMETIC_INT8 } Arithmetic;
double peak_tile(Peak *peak, Arithmetic arithmetic);

/* The number of products that take about `seconds`, at least one. */
int peak_products(const Peak *peak, double seconds);

/* "OpenBLAS 0.3.21 (Haswell)": the library and the processor type that it detected. */
const char *peak_library(void);
