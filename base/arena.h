/* arena.h -- memory that is sized once and then handed out by moving a pointer.
 *
 * Whoever needs buffers writes one function that takes them from an arena. Run on a measuring
 * arena (base NULL) it counts bytes and returns NULL pointers; run on one of that size it hands
 * out memory. So the size and the layout cannot disagree, and no pass of the network allocates:
 *
 *     Arena arena = {0};
 *     layout(&arena, sizes);                          measures
 *     if (!arena_reserve(&arena, error)) return false;
 *     layout(&arena, sizes);                          hands out */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/error.h"

#include <stddef.h>

typedef struct Arena {
    unsigned char *base;  // NULL while measuring
    size_t size;          // bytes reserved
    size_t used;          // bytes handed out (or counted) since it was empty
} Arena;

enum { ARENA_ALIGNMENT = 64 };  // a cache line, and the widest vector

/* Hands out `count` elements of `size` bytes, aligned, not cleared. NULL while measuring. Asking
 * for more than was reserved is a bug in the caller and stops the program (assert). */
void *arena_take(Arena *arena, size_t count, size_t size);

/* Reserves what has been counted so far and starts from empty. */
bool arena_reserve(Arena *arena, Error *error);

/* Empties it, with room for `bytes` at least, for layouts of which one is larger than another. False:
 * not enough memory. */
bool arena_fit(Arena *arena, size_t bytes);

void arena_free(Arena *arena);

/* A block of its own of `size` bytes, aligned, not cleared, to be freed with free(). A large one
 * asks for huge pages: with pages of 4 kB every row of a wide matrix misses the processor's table
 * of addresses. NULL if there is not enough memory. */
void *block_allocate(size_t size);
size_t block_bytes(size_t size);  // that such a block really takes

/* A block of zeros. block_zeros: pages take memory when they are written to. block_resident: they
 * are in memory already, so that no timed update waits for them. */
void *block_zeros(size_t size, Error *error);
void *block_resident(size_t size, Error *error);

/* Gives the memory under these bytes of a block, or of what malloc gave, back to the system, as far
 * as it is whole pages; they are not to be read again. */
void block_release(void *at, size_t size);

#define ARENA_TAKE(arena, type, count) ((type *)arena_take(arena, count, sizeof(type)))

#endif
