/* bleu.h -- BLEU of a corpus against one reference a sentence.
 *
 *     Bleu bleu = {.tokenization = TOKENIZATION_13A};
 *     for each sentence: bleu_add(&bleu, hypothesis, reference, &error)
 *     bleu_score(&bleu).score
 *
 * To join the counts of two parts of a corpus, add them field by field. */
#pragma once

#include "scores/tokenization.h"

#include <stddef.h>

enum { BLEU_ORDER = 4 };  // n-grams of 1 to 4 words

typedef struct Bleu {
    Tokenization tokenization;
    bool lowercase;
    long long correct[BLEU_ORDER];  // n-grams of the hypotheses that are in their references
    long long total[BLEU_ORDER];    // n-grams of the hypotheses
    long long hypothesis_length;    // words
    long long reference_length;     // words
} Bleu;

typedef struct BleuScore {
    double score;                   // 0 to 100
    double precisions[BLEU_ORDER];  // 0 to 100, smoothed
    double brevity_penalty;         // 0 to 1
} BleuScore;

/* Counts one sentence, UTF-8. Fails, counting nothing, if a text is not valid UTF-8 or exceeds
 * CODEPOINTS_LIMIT, or if memory is short. */
bool bleu_add(Bleu *bleu, const char *hypothesis, const char *reference, Error *error);

/* The score of the sentences counted so far; 0 if there are none. */
BleuScore bleu_score(const Bleu *bleu);

/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:qkv-1.0" */
void bleu_signature(const Bleu *bleu, char *text, size_t size);

/* "BLEU|nrefs:1|… = 60.65 100.0/100.0/100.0/100.0 (BP = 0.607 ratio = 0.667 hyp_len = 4
 * ref_len = 6)", on one line */
void bleu_format(const Bleu *bleu, char *text, size_t size);
