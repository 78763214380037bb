/* explain.h -- the walk from words to attention, as text with a model's own numbers. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "data/vocabulary.h"
#include "explain/choice.h"

#include <stdio.h>

/* Writes how one head of one layer came to look where it looked, when the network read `source`
 * and wrote `target` (ids, each ending in </s>): tokens, vectors, q, k and v, dot products, softmax,
 * and the mix of values for one word; then, for every word, the one it looks at most, and the whole
 * map. A head that is not chosen is the sharpest; so is its layer.
 * word: which one to follow: as the tokens are called, or its place from 1; NULL: one of interest.
 * False, too, if there is no such word, or the head is several (mean, max). */
bool explain_print(FILE *out, const Transformer *model, const Vocabulary *vocabulary,
                   const Choice *choice, const char *word, const int *source, int source_length,
                   const int *target, int target_length, Error *error);

#endif
