/* explain.h -- scaled dot-product attention step by step, as text with a model's own
 * numbers. */
#pragma once

#include "data/vocabulary.h"
#include "explain/choice.h"
#include "explain/update.h"

/* Writes how one head computed its attention. For one word: tokens, embeddings, query, key and
 * value, dot products, softmax and the weighted sum of the values. Then the most attended token
 * for each word, and all attention weights.
 *
 * choice: the head. word: a token's text, or its position counted from 1; or NULL. What is not
 * given is the head that is known to align words best, or is chosen by maps_follow (explain/maps.h).
 * update: of the snapshot's pair; the way back from the loss and the update of the weights follow
 * (explain/backward.c); or NULL.
 * False if there is no such word, or if the choice combines several heads (mean). */
bool explain_print(FILE *out, const Snapshot *snapshot, const Vocabulary *vocabulary,
                   const Choice *choice, const char *word, const Update *update, Error *error);
