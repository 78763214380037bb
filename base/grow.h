/* grow.h -- blocks that grow by half.
 *
 *     if (!GROW(list, room, count + 1)) return error_set(error, "not enough memory …");
 *     list[count++] = x;
 *
 * What is not yet used of a block is not touched, so takes no memory. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Room for `wanted` elements of `size` bytes in *block, which has room for *room. */
bool grow(void **block, size_t *room, size_t wanted, size_t size);

/* The same for a pointer to any type; on failure the block stays as it is. */
#define GROW(block, room, wanted)                                                              \
    ((wanted) <= (room) || grow((void **)&(block), &(room), (wanted), sizeof *(block)))

/* Gives back the part of a block that is not used; what is left may be empty. */
void *shrunk(void *block, size_t count, size_t size);

#endif
