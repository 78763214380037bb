/* block.h -- large blocks of memory. */
#pragma once

#include "base/error.h"

enum { BLOCK_ALIGNMENT = 64 };  // bytes: a cache line, and the widest vector

/* A block of `size` bytes, aligned, not cleared, for free(); NULL if memory is short. A large
 * block uses huge pages if it can: with pages of 4 kB every row of a wide matrix misses the
 * TLB. */
void *block_allocate(size_t size);

/* A block of zeros, whose pages take memory when they are written to. */
void *block_zeros(size_t size, Error *error);

/* Returns the whole pages among these bytes of allocated memory to the system. Do not read the
 * bytes again. */
void block_release(void *at, size_t size);
