/* greedy.h -- one token after the other, and no way back: the most probable one (beam search with a
 * beam of 1, without its bookkeeping), or, with --sample, one that is drawn. */
#ifndef INFERENCE_GREEDY_H
#define INFERENCE_GREEDY_H

#include "inference/predictor.h"
#include "inference/sampling.h"
#include "inference/search.h"

/* A hypothesis that has not ended. */
typedef struct Walk {
    int sentence, number;  // which of its hypotheses
    double log_probability;
} Walk;

typedef struct Greedy {
    const SearchConfig *config;
    const Packed *source;
    const SearchTask *task;  // [S]
    Predictor predictor;
    Prefix *live;  // [S n_best]
    Walk *walk;    // [S n_best] of each in live
    Sampling sampling;
} Greedy;

/* Takes the buffers for these sentences; measures if the arena is a measuring one.
 * config: with a beam of 1, or samples. */
void greedy_layout(Greedy *greedy, Arena *arena, const Ensemble *ensemble, const Packed *source,
                   const SearchTask *task, const SearchConfig *config);

/* Fills found[s]->hypothesis[0 .. n_best-1], whose ids have room for the task's limit of tokens, and
 * sets their count. false: the network's numbers are not finite. */
bool greedy_search(Translation *const *found, Greedy *greedy);

#endif
