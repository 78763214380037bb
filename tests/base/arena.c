/* arena.c -- an arena hands out what it has measured, aligned and without overlap; blocks of
 * zeros take memory only when they are written to. */
#include "tests/fixtures/test.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/block.h"

/* AddressSanitizer must return NULL if memory is short, not stop the program. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

enum { BUFFERS = 4 };
static const size_t counts[BUFFERS] = {1, 0, 17, 1000};

static void layout(Arena *arena, double **buffer)
{
    for (int i = 0; i < BUFFERS; i++) buffer[i] = ARENA_TAKE(arena, double, counts[i]);
}

TEST(buffers_are_aligned_and_apart)
{
    Arena arena = {0};
    double *buffer[BUFFERS];
    layout(&arena, buffer);
    for (int i = 0; i < BUFFERS; i++) assert_null(buffer[i]);
    size_t measured = arena.used;
    assert_true(measured >= (1 + 17 + 1000) * sizeof(double));

    assert_true(arena_reserve(&arena, NULL));
    for (int pass = 0; pass < 2; pass++) {  // arena_fit keeps the addresses
        layout(&arena, buffer);
        assert_int_equal(arena.used, measured);
        for (int i = 0; i < BUFFERS; i++) {
            assert_int_equal((uintptr_t)buffer[i] % BLOCK_ALIGNMENT, 0);
            for (size_t k = 0; k < counts[i]; k++) buffer[i][k] = 100 * i + pass;
        }
        for (int i = 0; i < BUFFERS; i++)
            for (size_t k = 0; k < counts[i]; k++) assert_true(buffer[i][k] == 100 * i + pass);
        assert_ptr_equal(buffer[0], arena.base);
        assert_true(arena_fit(&arena, measured));
    }
    assert_true(arena_fit(&arena, 2 * measured));
    for (int twice = 0; twice < 2; twice++) layout(&arena, buffer);
    arena_free(&arena);
    assert_null(arena.base);
    assert_int_equal(arena.used, 0);
}

TEST(empty_and_too_large_arenas)
{
    Arena arena = {0};
    Error error = {""};
    assert_true(arena_reserve(&arena, &error));
    assert_non_null(arena.base);
    arena_free(&arena);
    ARENA_TAKE(&arena, char, (size_t)1 << 62);
    assert_false(arena_reserve(&arena, &error));
    assert_non_null(strstr(error.text, "not enough memory"));
    assert_null(arena.base);
}

/* Taking more than was reserved is a bug in the caller; an assertion stops the program. */
TEST(taking_more_stops_the_program)
{
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        Arena arena = {0};
        ARENA_TAKE(&arena, char, 64);
        arena_reserve(&arena, NULL);
        ARENA_TAKE(&arena, char, 65);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* Bytes of the block that are in RAM, by the system's own count. */
static size_t resident(const unsigned char *block, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = size / page, count = 0;
    unsigned char *in = malloc(pages);
    assert_int_equal(mincore((void *)(uintptr_t)block, pages * page, in), 0);
    for (size_t i = 0; i < pages; i++) count += in[i] & 1;
    free(in);
    return count * page;
}

/* A block holds zeros even where freed memory held ones, and takes no memory before it is
 * written to. block_release returns its pages and keeps the bytes around them. */
TEST(zeros_take_no_memory)
{
    static const size_t sizes[] = {1, 100, 5000, 2 << 20, (9 << 20) + 12345};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int again = 0; again < 3; again++) {
            size_t size = sizes[s];
            unsigned char *block = block_zeros(size, NULL);
            assert_non_null(block);
            if (size > 4 << 20) assert_true(resident(block, size) < size / 2);
            for (size_t i = 0; i < size; i++) assert_int_equal(block[i], 0);
            memset(block, 1, size);
            free(block);
        }
    size_t size = 12 << 20, first = (3 << 20) + 100, count = 6 << 20;
    unsigned char *block = block_zeros(size, NULL);
    memset(block, 7, size);
    block_release(block + first, count);
    assert_true(resident(block, size) <= size - count + 2 * 4096);
    for (size_t i = 0; i < size; i++)
        if (i < first || i >= first + count) assert_int_equal(block[i], 7);
    memset(block, 8, size);
    free(block);
}

TEST_MAIN("arena", NULL, NULL)
