/* arena.c -- memory that is sized once, and large blocks; see arena.h. */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static const size_t HUGE_PAGE = (size_t)2 << 20;
#define MEMORY "not enough memory for %.1f MB"

size_t block_bytes(size_t size)
{
    size_t unit = size >= HUGE_PAGE ? HUGE_PAGE : ARENA_ALIGNMENT;
    return size ? (size + unit - 1) / unit * unit : unit;
}

void *block_allocate(size_t size)
{
    if (size > SIZE_MAX - HUGE_PAGE) return NULL;
    size_t bytes = block_bytes(size);
    void *block = aligned_alloc(size >= HUGE_PAGE ? HUGE_PAGE : ARENA_ALIGNMENT, bytes);
    if (block && size >= HUGE_PAGE) madvise(block, bytes, MADV_HUGEPAGE);  // may be ignored
    return block;
}

/* After MADV_DONTNEED whole pages of private memory read as zeros (madvise(2)). */
void *block_zeros(size_t size, Error *error)
{
    unsigned char *block = block_allocate(size);
    size_t pages = size >= HUGE_PAGE ? size / HUGE_PAGE * HUGE_PAGE : 0;
    if (!block) return error_set(error, MEMORY, (double)size / 1e6), NULL;
    if (pages && madvise(block, pages, MADV_DONTNEED) != 0) pages = 0;
    memset(block + pages, 0, size - pages);
    return block;
}

void *block_resident(size_t size, Error *error)
{
    void *block = block_allocate(size);
    if (!block) return error_set(error, MEMORY, (double)size / 1e6), NULL;
    return memset(block, 0, size);
}

/* MADV_NOHUGEPAGE keeps the kernel from filling released pages again to form a huge one. */
void block_release(void *at, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)at;
    uintptr_t first = (begin + page - 1) / page * page, end = (begin + size) / page * page;
    if (first >= end) return;
    madvise((void *)first, end - first, MADV_NOHUGEPAGE);
    madvise((void *)first, end - first, MADV_DONTNEED);
}

bool arena_reserve(Arena *arena, Error *error)
{
    assert(!arena->base);
    size_t size = arena->used ? arena->used : ARENA_ALIGNMENT;
    arena->base = block_allocate(size);
    if (!arena->base) return error_set(error, MEMORY, (double)size / 1e6);
    arena->size = size;
    arena->used = 0;
    return true;
}

bool arena_fit(Arena *arena, size_t bytes)
{
    if (!arena->base || arena->size < bytes) {
        arena_free(arena);
        arena->used = bytes;
        if (!arena_reserve(arena, NULL)) return false;
    }
    arena->used = 0;
    return true;
}

void arena_free(Arena *arena)
{
    free(arena->base);
    *arena = (Arena){0};
}
