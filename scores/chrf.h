/* chrf.h -- chrF and chrF++ of a corpus against one or more references a sentence.
 *
 *     Chrf chrf = {.word_order = 0};      0: chrF, 2: chrF++
 *     for each sentence: chrf_add(&chrf, hypothesis, reference, references, &error)
 *     chrf_score(&chrf)
 *
 * A Chrf of one sentence is its part of the corpus: chrf_join adds them up. */
#pragma once

#include "base/error.h"

#include <stddef.h>

enum {
    CHRF_CHAR_ORDER = 6,  // n-grams of 1 to 6 characters
    CHRF_WORD_ORDER = 2,  // and of no more than 2 words
    CHRF_ORDERS = CHRF_CHAR_ORDER + CHRF_WORD_ORDER
};

/* The first six counts are of characters, the others of words. */
typedef struct Chrf {
    int word_order;  // 0 to CHRF_WORD_ORDER
    bool lowercase;
    int references;                  // a sentence: see references_join
    long long correct[CHRF_ORDERS];  // n-grams of the hypotheses that are in their references
    long long hypothesis[CHRF_ORDERS];  // n-grams of the hypotheses
    long long reference[CHRF_ORDERS];   // n-grams of the references
} Chrf;

/* Counts one sentence, as bleu_add does, and the one of its references that gives it the highest
 * score, of several the first. */
bool chrf_add(Chrf *chrf, const char *hypothesis, const char *const *reference, int references,
              Error *error);
void chrf_join(Chrf *chrf, const Chrf *part);

/* The score of the sentences counted so far, 0 to 100; 0 if there are none. */
double chrf_score(const Chrf *chrf);

/* "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:qkv-1.0 = 47.17", with chrF2++
 * for word order 2 */
void chrf_format(const Chrf *chrf, char *text, size_t size);
