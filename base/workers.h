/* workers.h -- a pool of threads that wait for work.
 *
 * workers_run calls one function on every thread, the caller's included, and returns when all
 * calls have returned. The function decides which piece of work each thread takes; its results
 * must not depend on that. In it, denormal numbers are zeros (workers.c). */
#pragma once

#include "base/error.h"

typedef struct Workers Workers;

/* Starts threads - 1 threads; the caller is worker 0. They block all signals. NULL on error. */
Workers *workers_start(int threads, Error *error);

/* Runs work(context, worker) with worker = 0 .. threads-1 at the same time. */
void workers_run(Workers *workers, void (*work)(void *context, int worker), void *context);

int workers_count(const Workers *workers);
void workers_stop(Workers *workers);

/* The number of processors that this process may use. */
int workers_processors(void);
