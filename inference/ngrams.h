/* ngrams.h -- how many n-grams of a hypothesis are also in its reference.
 *
 * An n-gram is a run of n symbols; a symbol is a code point or the number of a word. One that
 * stands a times in the hypothesis and b times in the reference is correct min(a, b) times: the
 * "clipped" count of Papineni et al. 2002, section 2.1. */
#ifndef INFERENCE_NGRAMS_H
#define INFERENCE_NGRAMS_H

#include "inference/codepoints.h"

/* What the signatures of the scores give as their version. It changes when a score changes. */
#define SCORE_VERSION "qkv-1.0"

/* Turns two texts into the numbers of their words, in place: what white space separates becomes
 * one number, the same for the same word in either text. Fails if memory is short. */
bool ngrams_number_words(Codepoints *hypothesis, Codepoints *reference, Error *error);

/* correct [order] (+=): correct[n-1] counts the n-grams. Fails, adding nothing, if memory is
 * short. */
bool ngrams_count_correct(long long *correct, const Codepoints *hypothesis,
                          const Codepoints *reference, int order, Error *error);

/* How many n-grams a text of this length has. */
long long ngrams_in(int length, int n);

#endif
