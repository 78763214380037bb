/* ngrams.h -- how many n-grams of a hypothesis are also in its reference.
 *
 * An n-gram is a run of n symbols; a symbol is a code point or the number of a word. An n-gram
 * that occurs a times in the hypothesis and b times in the reference is correct min(a, b)
 * times: the "clipped" count of Papineni et al. 2002, section 2.1. */
#pragma once

#include "scores/codepoints.h"

/* The version in the signatures of the scores. Change it when a score changes. */
#define SCORE_VERSION "qkv-1.0"

/* Replaces two texts by the numbers of their words. White space separates words, and equal
 * words get equal numbers in both texts. Fails if memory is short. */
bool ngrams_number_words(Codepoints *hypothesis, Codepoints *reference, Error *error);

/* correct [order] (+=): correct[n-1] counts the n-grams. Fails, adding nothing, if memory is
 * short. */
bool ngrams_count_correct(long long *correct, const Codepoints *hypothesis,
                          const Codepoints *reference, int order, Error *error);

/* The number of n-grams in a text of `length` symbols. */
static inline long long ngrams_in(int length, int n)
{
    return length < n ? 0 : length - n + 1;
}
