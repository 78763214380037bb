/* letters.h -- random texts of single letters, whose n-grams are their substrings, for tests of scores. */
#ifndef TESTS_LETTERS_H
#define TESTS_LETTERS_H

#include <string.h>

#include "base/rng.h"

/* A hypothesis and a reference of up to 59 of one to four different letters. */
typedef struct Letters {
    char text[2][64];
    int length[2];
} Letters;

static inline Letters random_letters(Rng *rng)
{
    Letters l = {{{0}}, {0}};
    uint32_t letters = 1 + rng_below(rng, 4);
    for (int s = 0; s < 2; s++) {
        l.length[s] = (int)rng_below(rng, 60);
        for (int i = 0; i < l.length[s]; i++)
            l.text[s][i] = (char)('a' + (int)rng_below(rng, letters));
    }
    return l;
}

/* How often the n letters of gram begin at one of the first `starts` places. */
static inline int occurrences(const char *gram, const char *text, int starts, int n)
{
    int count = 0;
    for (int i = 0; i < starts; i++) count += memcmp(gram, text + i, (size_t)n) == 0;
    return count;
}

#endif
