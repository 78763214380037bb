/* searches.h -- what the tests of searches share. */
#ifndef TESTS_SEARCHES_H
#define TESTS_SEARCHES_H

#include "inference/search.h"
#include "tests/random-model.h"

static inline bool same_ids(const Hypothesis *a, const Hypothesis *b)
{
    return a->length == b->length && !memcmp(a->id, b->id, (size_t)a->length * sizeof *a->id);
}

/* Sentence s alone. */
static inline Packed only(const Packed *source, int s, int start[2])
{
    start[0] = 0, start[1] = source->start[s + 1] - source->start[s];
    return (Packed){1, start[1], source->id + source->start[s], start};
}

#endif
