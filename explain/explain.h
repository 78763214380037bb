/* explain.h -- scaled dot-product attention step by step, as text with a model's own numbers. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "data/vocabulary.h"
#include "explain/choice.h"

#include <stdio.h>

/* Writes how one head computed its attention: for one word tokens, embeddings, query, key and value,
 * dot products, softmax and the weighted sum of the values; then, for every word, the one it attends to
 * most, and the whole map.
 * choice: if no head is chosen, the sharpest of those of the chosen layer, or of all layers.
 * word: a token's text or its place from 1; NULL: the first word whose largest weight is elsewhere.
 * False if there is no such word, or if the choice is several heads together (mean, max). */
bool explain_print(FILE *out, const Snapshot *snapshot, const Vocabulary *vocabulary,
                   const Choice *choice, const char *word, Error *error);

#endif
