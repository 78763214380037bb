/* child.h -- runs a measurement in a process of its own, so that its memory and threads do not
 * affect the next one. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Runs in the child: fills `result`, or sets the error. */
typedef bool (*ChildWork)(const void *context, void *result, Error *error);

/* Forks, runs work in the child, and copies its result of `size` bytes, which must hold no
 * pointers. False with the child's error, or if it ended without a result. */
bool child_run(ChildWork work, const void *context, void *result, size_t size, Error *error);

/* Starts a program (execvp). *stream (=) a socket that reads its standard output and writes its
 * standard input; its standard error is dropped. -1 on error. */
pid_t child_start(int *stream, char *const *argv, Error *error);

/* Waits for its end; whether that was with status 0. */
bool child_wait(pid_t child);

/* The most memory that this process held in RAM since memory_reset, in bytes; 0 if unknown. */
double memory_most(void);
void memory_reset(void);

/* path (=) a pattern for mkstemp or mkdtemp, below TMPDIR if that is set. */
void child_temporary(char *path, size_t size);
