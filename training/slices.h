/* slices.h -- a loop over the numbers of a parameter block, cut into slices for all threads.
 *
 * A slice of each of the blocks that such a loop touches (a sum's two sides, weights and moments)
 * stays in the cache of the thread that takes it. */
#ifndef TRAINING_SLICES_H
#define TRAINING_SLICES_H

#include "base/workers.h"

#include <stddef.h>

enum { SLICE = 16384 };  // numbers

typedef void SliceWork(void *context, size_t begin, size_t count);

/* Calls work for every slice of the numbers begin .. end-1, in any order; begin is a multiple of
 * SLICE, and so is every begin that work sees. */
void slices_run(Workers *workers, size_t begin, size_t end, SliceWork *work, void *context);

#endif
