/* picture.h -- the curves of scaling.h on one page. */
#ifndef BENCHMARK_PICTURE_H
#define BENCHMARK_PICTURE_H

#include "benchmark/scaling.h"

/* A column for each number that was changed: speed above, share of the peak below. */
bool picture_scaling(const char *path, const Scaling *scaling, Error *error);

#endif
