/* arena.c -- memory that is sized once; see arena.h. */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *arena_take(Arena *arena, size_t count, size_t size)
{
    assert(size == 0 || count <= (SIZE_MAX - ARENA_ALIGNMENT) / size);
    size_t bytes = (count * size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    size_t at = arena->used;
    arena->used += bytes;
    if (!arena->base) return NULL;
    assert(arena->used <= arena->size);
    return arena->base + at;
}

void *block_allocate(size_t size)
{
    const size_t huge = (size_t)2 << 20;
    size_t unit = size >= huge ? huge : ARENA_ALIGNMENT;
    if (size > SIZE_MAX - unit) return NULL;
    size = (size + unit - 1) / unit * unit;
    void *block = aligned_alloc(unit, size ? size : unit);
    if (block && unit == huge) madvise(block, size, MADV_HUGEPAGE);  // a wish: no matter if not
    return block;
}

bool arena_reserve(Arena *arena, Error *error)
{
    assert(!arena->base);
    size_t size = arena->used ? arena->used : ARENA_ALIGNMENT;
    arena->base = block_allocate(size);
    if (!arena->base)
        return error_set(error, "not enough memory for %.1f MB of activations: a smaller model, "
                         "--micro-tokens or --max-length needs less", size / 1e6);
    arena->size = size;
    arena->used = 0;
    return true;
}

void arena_reset(Arena *arena)
{
    arena->used = 0;
}

void arena_free(Arena *arena)
{
    free(arena->base);
    *arena = (Arena){0};
}
