/* child.h -- a measurement in a process of its own, so that the memory and the threads of one do
 * not show in the next. */
#ifndef BENCHMARK_CHILD_H
#define BENCHMARK_CHILD_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* What the child does: fills `result`, or says why it cannot. */
typedef bool (*ChildWork)(const void *context, void *result, Error *error);

/* Forks, runs work there, and copies the `size` bytes of its result back. `result` must hold no
 * pointers. False: the child's sentence, or that it ended without one. */
bool child_run(ChildWork work, const void *context, void *result, size_t size, Error *error);

/* Starts a program (execvp): *output reads what it prints, *input, if given, writes what it reads;
 * its messages go nowhere. -1 with a sentence. A program that is not there ends with status 127. */
pid_t child_start(int *input, int *output, char *const *argv, Error *error);

/* Waits for its end; whether that was with status 0. */
bool child_wait(pid_t child);

/* The most memory that this process held in RAM since memory_reset, in bytes; 0 if the system
 * does not say. */
double memory_most(void);
void memory_reset(void);

#endif
