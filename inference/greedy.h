/* greedy.h -- the most probable token, step after step: beam search with a beam of 1, without its
 * bookkeeping. */
#ifndef INFERENCE_GREEDY_H
#define INFERENCE_GREEDY_H

#include "inference/cache.h"
#include "inference/search.h"

typedef struct Greedy {
    const SearchConfig *config;
    const Packed *source;
    Cache cache;
    int *limit;               // [S] tokens
    Prefix *live;             // [S] sentences that have not ended
    double *log_probability;  // [S] of each in live
    real *logits;             // one block of loss.h
} Greedy;

/* Takes the buffers for these sentences; measures if the arena is a measuring one. */
void greedy_layout(Greedy *greedy, Arena *arena, const Transformer *model, const Packed *source,
                   const SearchConfig *config);

/* Fills found[s]->hypothesis[0], whose id has room for search_limit tokens, and sets its count.
 * false: the network's numbers are not finite. */
bool greedy_search(Translation *const *found, Greedy *greedy, const Transformer *model);

#endif
