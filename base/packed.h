/* packed.h -- sentences of token ids, one after the other, without padding.
 *
 *   row     0  1  2  3 | 4  5 | 6  7  8
 *   id      a  b  c </s>  d </s>  e  f </s>
 *   start   0            4      6          9        sentence s is rows start[s] .. start[s+1]-1
 *
 * The network's layers see rows; only attention knows where a sentence begins. */
#pragma once

#include "base/c.h"

typedef struct Packed {
    int sentences;     // S
    int rows;          // N = start[S]
    const int *id;     // [N]
    const int *start;  // [S+1], start[0] = 0
} Packed;

/* Rows of a sentence. */
static inline int packed_length(const Packed *packed, int sentence)
{
    return packed->start[sentence + 1] - packed->start[sentence];
}

/* Sentences first .. end-1 as a batch of their own, from row 0 on.   start [end-first+1] (=) */
static inline Packed packed_slice(int *start, const Packed *all, int first, int end)
{
    for (int s = first; s <= end; s++) start[s - first] = all->start[s] - all->start[first];
    Packed slice = {end - first, start[end - first], all->id + all->start[first], start};
    return slice;  // no compound literal: the header is also C++
}

/* A sentence and its translation, where they are; both end in </s>. */
typedef struct PairIds {
    const int *id[2];  // of the source, of the target
    int length[2];
    size_t number;  // of the pair in its corpus; PAIR_CHANGED: its target is not of the corpus
} PairIds;

#define PAIR_CHANGED SIZE_MAX

/* Special tokens with the same id in every vocabulary. The last id, V-1, is <pad>: the
 * decoder's first input, never an output. */
enum { ID_END = 0, ID_UNKNOWN = 1 };
