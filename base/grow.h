/* grow.h -- blocks that grow by half.
 *
 *     if (!GROW(list, size, count + 1)) return error_set(error, "not enough memory …");
 *     list[count++] = x;
 *
 * The unused end of a block is not touched, so it takes no memory. */
#pragma once

#include "base/c.h"

/* Grows *block, which holds *capacity elements of `size` bytes, to `wanted` or more. If memory
 * is short it returns false and leaves the block as it is. */
bool grow(void **block, size_t *capacity, size_t wanted, size_t size);

/* The same for a pointer to any type. */
#define GROW(block, capacity, wanted)                                                          \
    ((wanted) <= (capacity) || grow((void **)&(block), &(capacity), (wanted), sizeof *(block)))
