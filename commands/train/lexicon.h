/* lexicon.h -- which target tokens translate each source token, by the links of words: what a model
 * saves as its shortlist (inference/shortlist.h). */
#pragma once

#include "data/corpus.h"
#include "training/guide.h"

/* list [count] (=) for free(); NULL of a vocabulary too large for it. The guide must have learned;
 * `step` chooses every step-th pair. */
bool lexicon_learn(uint16_t **list, size_t *count, Guide *guide, const Corpus *corpus,
                   size_t step, Error *error);
