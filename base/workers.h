/* workers.h -- a pool of threads that wait for work.
 *
 * workers_each cuts a loop over the threads, the caller's too: each takes the next item when it is
 * free. The results must not depend on which thread takes which. Where there are workers, denormal
 * numbers are zeros in it (workers.c). */
#pragma once

#include "base/error.h"

typedef struct Workers Workers;

/* Starts threads - 1 threads; the caller is worker 0. They block all signals. NULL on error. */
Workers *workers_start(int threads, Error *error);

/* One item of a loop. False, with a sentence in *error, ends the loop. */
typedef bool WorkersItem(void *context, size_t item, int worker, Error *error);

/* Runs work for the items 0 .. count-1, on the calling thread alone if `workers` is NULL. After
 * an item failed, no other is begun; false then, with the error of the first that did. */
bool workers_each(Workers *workers, size_t count, WorkersItem *work, void *context,
                  Error *error);

int workers_count(const Workers *workers);

/* In a process that was forked since workers_start, it only frees memory, and workers_each fails. */
void workers_stop(Workers *workers);

/* The number of processors that this process may use. */
int workers_processors(void);
