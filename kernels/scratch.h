/* scratch.h -- memory of a thread for the copies that a kernel makes while it multiplies.
 *
 * It is not a thread-local array, because that would lie in the stack of every thread of the
 * process: those of other libraries, or of a program that uses this one, may be smaller. */
#pragma once

#include "base/block.h"
#include "base/real.h"

enum { SCRATCH_BYTES = (9 << 15) * sizeof(real) };

/* [SCRATCH_BYTES], aligned to BLOCK_ALIGNMENT. A thread takes it once at a time, and gives it
 * back. If there is no memory, threads wait for each other. */
void *scratch_take(void);
void scratch_give(void *scratch);
