/* arena.c -- memory that is sized once; see arena.h. */
#include "base/arena.h"
#include "base/block.h"

void *arena_take(Arena *arena, size_t count, size_t size)
{
    assert(size == 0 || count <= (SIZE_MAX - BLOCK_ALIGNMENT) / size);
    size_t bytes = (count * size + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    size_t at = arena->used;
    arena->used += bytes;
    if (!arena->base) return NULL;
    assert(arena->used <= arena->size);
    return arena->base + at;
}

bool arena_reserve(Arena *arena, Error *error)
{
    assert(!arena->base);
    size_t size = arena->used ? arena->used : BLOCK_ALIGNMENT;
    arena->base = block_allocate(size);
    if (!arena->base) return error_memory(error, "for %.1f MB", (double)size / 1e6);
    arena->size = size;
    arena->used = 0;
    return true;
}

bool arena_fit(Arena *arena, size_t bytes)
{
    if (!arena->base || arena->size < bytes) {
        arena_free(arena);
        arena->used = bytes;
        return arena_reserve(arena, NULL);
    }
    arena->used = 0;
    return true;
}

void arena_free(Arena *arena)
{
    free(arena->base);
    *arena = (Arena){0};
}
