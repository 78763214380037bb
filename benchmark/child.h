/* child.h -- a measurement in a process of its own, so that the memory and the threads of one do
 * not show in the next. */
#ifndef BENCHMARK_CHILD_H
#define BENCHMARK_CHILD_H

#include "base/error.h"

#include <stddef.h>

/* What the child does: fills `result`, or says why it cannot. */
typedef bool (*ChildWork)(const void *context, void *result, Error *error);

/* Forks, runs work there, and copies the `size` bytes of its result back. `result` must hold no
 * pointers. False: the child's sentence, or that it ended without one. */
bool child_run(ChildWork work, const void *context, void *result, size_t size, Error *error);

/* The most memory that this process held in RAM since memory_reset, in bytes; 0 if the system
 * does not say. */
double memory_most(void);
void memory_reset(void);

#endif
