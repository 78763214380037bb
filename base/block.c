/* block.c -- large blocks of memory; see block.h. */
#include "base/block.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef ZEROS_BY_MADVISE
#define ZEROS_BY_MADVISE 1  // 0 for valgrind, which does not know that they are zeros
#endif

static const size_t HUGE_PAGE = (size_t)2 << 20;

void *block_allocate(size_t size)
{
    if (size > SIZE_MAX - HUGE_PAGE) return NULL;
    size_t unit = size >= HUGE_PAGE ? HUGE_PAGE : BLOCK_ALIGNMENT;
    size_t bytes = size ? (size + unit - 1) / unit * unit : unit;
    void *block = aligned_alloc(unit, bytes);
    if (block && size >= HUGE_PAGE) madvise(block, bytes, MADV_HUGEPAGE);  // may be ignored
    return block;
}

/* After MADV_DONTNEED whole pages of private memory read as zeros (madvise(2)). */
void *block_zeros(size_t size, Error *error)
{
    unsigned char *block = block_allocate(size);
    size_t pages = ZEROS_BY_MADVISE && size >= HUGE_PAGE ? size / HUGE_PAGE * HUGE_PAGE : 0;
    if (!block) return error_memory(error, "for %.1f MB", (double)size / 1e6), NULL;
    if (pages && madvise(block, pages, MADV_DONTNEED) != 0) pages = 0;
    memset(block + pages, 0, size - pages);
    return block;
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
