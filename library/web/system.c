/* system.c -- what base/block.c and base/workers.c are elsewhere: memory without huge pages, and
 * one thread; and data/words.c without ICU: words between blanks. */
#include "base/block.h"
#include "base/workers.h"
#include "data/words.h"

void *block_allocate(size_t size)
{
    size_t bytes = (size / BLOCK_ALIGNMENT + 1) * BLOCK_ALIGNMENT;
    return size < PTRDIFF_MAX ? aligned_alloc(BLOCK_ALIGNMENT, bytes) : NULL;
}

void *block_zeros(size_t size, Error *error)
{
    void *block = block_allocate(size);
    if (!block) return error_memory(error, "for %.1f MB", (double)size / 1e6), NULL;
    return memset(block, 0, size);
}

void block_release(void *at, size_t size)
{
    (void)at, (void)size;
}

struct Workers {
    int count;
};

Workers *workers_start(int threads, Error *error)
{
    static Workers one = {1};
    (void)threads, (void)error;
    return &one;
}

bool workers_each(Workers *workers, size_t count, WorkersItem *work, void *context,
                  Error *error)
{
    (void)workers;
    for (size_t i = 0; i < count; i++)
        if (!work(context, i, 0, error)) return false;
    return true;
}

int workers_count(const Workers *workers)
{
    return workers->count;
}

void workers_stop(Workers *workers)
{
    (void)workers;
}

int workers_processors(void)
{
    return 1;
}

bool words_letter(unsigned code)
{
    return code > 0x7F || (code | 32) - 'a' < 26 || code - '0' < 10;
}

int *words_number(int *words, const char *text, size_t length, bool characters, Error *error)
{
    (void)characters;
    int *word = malloc((length + 1) * sizeof *word);
    *words = 0;
    if (!word) error_memory(error, "for the words of a text");
    for (size_t i = 0; word && i < length; i++) {
        *words += !words_blank(text[i]) && (i == 0 || words_blank(text[i - 1]));
        word[i] = *words > 0 ? *words - 1 : 0;
    }
    return word;
}
