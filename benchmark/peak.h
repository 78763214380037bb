/* peak.h -- how fast this processor multiplies matrices right now: the yardstick.
 *
 * On every worker at the same time, OpenBLAS's own cblas_sgemm on one thread, 1024 x 1024 x 1024:
 * large enough that packing and memory no longer show, small enough (12 MB a worker, about 20 ms a
 * product) to be measured between two updates of a training. A machine's speed changes from second
 * to second with its temperature and its other work, so a yardstick laid beside the work within
 * the same second compares, where one from another minute does not. */
#ifndef BENCHMARK_PEAK_H
#define BENCHMARK_PEAK_H

#include "base/workers.h"

typedef struct Peak Peak;

/* Matrices for every worker, filled and multiplied once. NULL with a sentence. */
Peak *peak_create(Workers *workers, Error *error);
void peak_free(Peak *peak);

/* Every worker computes `products` products; returns the FLOP/s of all together, which is the sum
 * of what each reached in its own time: nobody waits for the slowest. */
double peak_burst(Peak *peak, int products);

/* So many products as take about this many seconds, at least one. */
int peak_products(const Peak *peak, double seconds);

/* "OpenBLAS 0.3.21 (Haswell)": the library and the processor that it takes this one for. */
const char *peak_library(void);

#endif
