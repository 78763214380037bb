/* opened-model.h -- a model as the library has it and as it is cut at random, for tests. */
#ifndef TESTS_OPENED_MODEL_H
#define TESTS_OPENED_MODEL_H

#include "data/subwords.h"

#include <stdio.h>
#include <stdlib.h>

/* A model, as the library has it and as it is cut at random. */
typedef struct Pair {
    Tokenizer *tokenizer;
    Subwords *subwords;
} Pair;

static inline Pair open_model(const void *model, size_t size, double amount)
{
    Error error = {""};
    Pair pair = {tokenizer_load(model, size, &error), NULL};
    if (pair.tokenizer) pair.subwords = subwords_create(model, size, amount, &error);
    if (!pair.subwords) fail_msg("%s", error.text);
    return pair;
}

static inline void close_model(Pair *pair)
{
    subwords_free(pair->subwords);
    tokenizer_free(pair->tokenizer);
}

static inline Units units_of(const Pair *pair, const char *text, size_t length)
{
    Error error = {""};
    Units units = {0};
    char *normalized;
    size_t size;
    if (!tokenizer_normalize(pair->tokenizer, &normalized, &size, text, length, &error) ||
        !subwords_add(pair->subwords, &units, normalized, size, &error))
        fail_msg("%s", error.text);
    free(normalized);
    return units;
}

static inline Ids draw(const Pair *pair, const Units *units, uint64_t index)
{
    Error error = {""};
    Ids ids = {0};
    Rng rng = rng_stream(11, RNG_TEST, index);
    if (!subwords_draw(pair->subwords, &ids, units->unit, units->count, &rng, &error))
        fail_msg("%s", error.text);
    return ids;
}

/* "a|b|c" of ids */
static inline void pieces_text(const Tokenizer *tokenizer, const Ids *ids, char *text,
                               size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < ids->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "",
                                 tokenizer_piece(tokenizer, ids->id[i]));
}

#endif
