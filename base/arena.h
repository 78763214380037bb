/* arena.h -- memory that is allocated once and then handed out by moving a pointer (a bump
 * allocator).
 *
 * A layout function takes all buffers of a computation from an arena. On a measuring arena
 * (base NULL) it counts bytes and gets NULL pointers; on a reserved arena it gets memory. So
 * the size and the layout cannot disagree, and no pass of the network allocates:
 *
 *     Arena arena = {0};
 *     layout(&arena, sizes);                          measures
 *     if (!arena_reserve(&arena, error)) return false;
 *     layout(&arena, sizes);                          hands out */
#pragma once

#include "base/error.h"

typedef struct Arena {
    unsigned char *base;  // NULL while measuring
    size_t size;          // bytes reserved
    size_t used;          // bytes handed out, or counted
} Arena;

/* Returns `count` elements of `size` bytes, aligned, not cleared; NULL while measuring. Asserts
 * that no more is taken than was reserved. */
void *arena_take(Arena *arena, size_t count, size_t size);

/* Reserves the bytes counted so far, and empties the arena. */
bool arena_reserve(Arena *arena, Error *error);

/* Empties the arena and grows it to at least `bytes`. False if memory is short. */
bool arena_fit(Arena *arena, size_t bytes);

void arena_free(Arena *arena);

#define ARENA_TAKE(arena, type, count) ((type *)arena_take(arena, count, sizeof(type)))
