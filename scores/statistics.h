/* statistics.h -- BLEU, chrF2, chrF2++ and TER at once.
 *
 * The counts of one segment, or the sums of many: what a score needs to know of a corpus, so that
 * the scores of resampled corpora (significance.h) need no text. */
#pragma once

#include "scores/bleu.h"
#include "scores/chrf.h"
#include "scores/ter.h"

enum { SCORES = 4 };

/* "bleu", "chrf2", "chrf2pp", "ter" */
extern const char *const statistics_names[SCORES];

typedef struct Statistics {
    Bleu bleu;
    Chrf chrf, chrfpp;  // chrfpp.word_order is CHRF_WORD_ORDER
    Ter ter;
} Statistics;

/* Statistics of no segment, with the settings of this Bleu. */
Statistics statistics_none(const Bleu *settings);

/* Adds a segment, UTF-8, with its reference [references]. Fails as bleu_add does. */
bool statistics_add(Statistics *statistics, const char *hypothesis,
                    const char *const *reference, int references, Error *error);
void statistics_join(Statistics *statistics, const Statistics *part);

/* score [SCORES] (=) */
void statistics_scores(double *score, const Statistics *statistics);
