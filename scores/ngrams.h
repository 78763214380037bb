/* ngrams.h -- how many n-grams of a hypothesis are also in its references.
 *
 * An n-gram is a run of n symbols; a symbol is a code point or the number of a word. An n-gram
 * that occurs a times in the hypothesis and at most b times in one of the references is correct
 * min(a, b) times: the "clipped" count of Papineni et al. 2002, section 2.1. */
#pragma once

#include "scores/codepoints.h"

/* The version in the signatures of the scores. Change it when a score changes. */
#define SCORE_VERSION "qkv-1.0"

/* Replaces each text of a comparison by the numbers of its words. White space separates words, and
 * equal words get equal numbers in all texts. Fails if memory is short. */
bool ngrams_number_words(Comparison *c, Error *error);

/* correct [order] (+=): correct[n-1] counts the n-grams. Fails, adding nothing, if memory is
 * short. */
bool ngrams_count_correct(long long *correct, const Comparison *c, int order, Error *error);

/* The number of n-grams in a text of `length` symbols. */
static inline long long ngrams_in(int length, int n)
{
    return length < n ? 0 : length - n + 1;
}
