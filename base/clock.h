/* clock.h -- a clock that never jumps, to measure how long things take. */
#pragma once

#include <time.h>

/* Seconds since some fixed moment in the past. */
static inline double clock_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
