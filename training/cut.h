/* cut.h -- an update's sentences, shared out to micro-batches.
 *
 * Each sentence, the longest first, goes to the micro-batch that has the fewest tokens so far:
 * the rule LPT of Graham 1969, Bounds on Multiprocessing Timing Anomalies. In the end they differ
 * by no more than one short sentence, and threads that take as many of them end together. The
 * lengths alone decide, so the cut is the same on any machine. */
#ifndef TRAINING_CUT_H
#define TRAINING_CUT_H

#include "base/error.h"
#include "base/packed.h"

/* A sentence on its way to a micro-batch. */
typedef struct Share {
    int tokens, sentence, micro_batch;
} Share;

/* Starts as zeros; every cut_make reuses its memory. */
typedef struct Cut {
    int count;      // micro-batches
    int *sentence;  // [S] those of micro-batch 0, the longest first, those of 1, …
    int *first;     // [count+1] where in it they begin
    int *tokens;    // [count] source and target tokens
    Share *share;   // [S] scratch
    int room, sentences_room;
} Cut;

/* cut (=) micro-batches of about `tokens` source plus target tokens, of a sentence at least. More
 * of them than `together` are made a multiple of it. */
bool cut_make(Cut *cut, const Packed *source, const Packed *target, int tokens, int together,
              Error *error);
void cut_free(Cut *cut);

/* How many sentences micro-batch k has, and which. */
static inline int cut_sentences(const Cut *cut, int k)
{
    return cut->first[k + 1] - cut->first[k];
}

static inline const int *cut_sentence(const Cut *cut, int k)
{
    return cut->sentence + cut->first[k];
}

#endif
