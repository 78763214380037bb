/* workers.h -- threads that wait for work.
 *
 * workers_run calls one function on every thread, the caller's included, and returns when all
 * have returned. Which piece of work a thread takes is the function's own matter; the results
 * must not depend on it. Denormal numbers are zeros in it (denormals.h). */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include "base/error.h"

typedef struct Workers Workers;

/* Starts threads - 1 threads, as the caller is worker 0. Signals are left to the caller's thread.
 * NULL with a sentence if a thread cannot be started. */
Workers *workers_start(int threads, Error *error);

/* Runs work(context, worker) with worker = 0 .. threads-1 at the same time. */
void workers_run(Workers *workers, void (*work)(void *context, int worker), void *context);

int workers_count(const Workers *workers);
void workers_stop(Workers *workers);

/* Processors that this process may use: the default of --threads. */
int workers_processors(void);

#endif
