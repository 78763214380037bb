/* cut.h -- an update's sentences, shared out to micro-batches.
 *
 * Each sentence, the longest first, goes to the micro-batch that has the fewest tokens so far:
 * the rule LPT of Graham 1969, Bounds on Multiprocessing Timing Anomalies. In the end they differ
 * by no more than one short sentence, and threads that take as many of them end together. The
 * lengths alone decide, so the cut is the same on any machine. */
#ifndef TRAINING_CUT_H
#define TRAINING_CUT_H

#include <stddef.h>

#include "base/error.h"
#include "base/packed.h"

/* A sentence on its way to a part. */
typedef struct Share {
    int tokens, sentence, part;
} Share;

/* A micro-batch: sentence[first] .. sentence[end-1] of the cut, of so many tokens. */
typedef struct CutPart {
    int first, end, tokens;
} CutPart;

/* Starts as zeros; every cut_make reuses its memory. */
typedef struct Cut {
    int count;      // micro-batches
    CutPart *part;  // [count]
    int *sentence;  // [S] those of micro-batch 0, the longest first, those of 1, …
    Share *share;   // [S] scratch
    size_t part_room, sentence_room, share_room;
} Cut;

/* cut (=) micro-batches of about `tokens` source plus target tokens, of a sentence at least. More
 * of them than `together` are made a multiple of it. */
bool cut_make(Cut *cut, const Packed *source, const Packed *target, int tokens, int together,
              Error *error);
void cut_free(Cut *cut);

/* How many sentences micro-batch k has, and which. */
static inline int cut_sentences(const Cut *cut, int k)
{
    return cut->part[k].end - cut->part[k].first;
}

static inline const int *cut_sentence(const Cut *cut, int k)
{
    return cut->sentence + cut->part[k].first;
}

#endif
