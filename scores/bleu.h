/* bleu.h -- BLEU of a corpus against one or more references a sentence.
 *
 *     Bleu bleu = {.tokenization = TOKENIZATION_13A};
 *     for each sentence: bleu_add(&bleu, hypothesis, reference, references, &error)
 *     bleu_score(&bleu).score
 *
 * A Bleu of one sentence is its part of the corpus: bleu_join adds them up. */
#pragma once

#include "scores/tokenization.h"

#include <stddef.h>

enum { BLEU_ORDER = 4 };  // n-grams of 1 to 4 words

typedef struct Bleu {
    Tokenization tokenization;
    SplitText *split;     // for TOKENIZATION_SPM
    const void *context;  // of split
    bool lowercase;
    bool effective_order;  // leave out the orders that no hypothesis is long enough for
    int references;        // a sentence: see references_join
    long long correct[BLEU_ORDER];  // n-grams of the hypotheses that are in their references
    long long total[BLEU_ORDER];    // n-grams of the hypotheses
    long long hypothesis_length;    // words
    long long reference_length;     // words; of each sentence's reference of the nearest length
} Bleu;

typedef struct BleuScore {
    double score;                   // 0 to 100
    double precisions[BLEU_ORDER];  // 0 to 100, smoothed
    double brevity_penalty;         // 0 to 1
} BleuScore;

/* Counts one sentence, UTF-8, and its reference [references], one or more. Fails, counting nothing, if a text is not valid UTF-8 or exceeds
 * CODEPOINTS_LIMIT, or if memory is short. */
bool bleu_add(Bleu *bleu, const char *hypothesis, const char *const *reference, int references,
              Error *error);
void bleu_join(Bleu *bleu, const Bleu *part);

/* The score of the sentences counted so far; 0 if there are none. */
BleuScore bleu_score(const Bleu *bleu);

/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:qkv-1.0" */
void bleu_signature(const Bleu *bleu, char *text, size_t size);

/* "BLEU|nrefs:1|… = 60.65 100.0/100.0/100.0/100.0 (BP = 0.607 ratio = 0.667 hyp_len = 4
 * ref_len = 6)", on one line */
void bleu_format(const Bleu *bleu, char *text, size_t size);
