/* greedy.h -- greedy search and sampling: one token after the other, without going back. Greedy
 * search takes the most probable token; with `sample` the token is drawn. */
#pragma once

#include "inference/choices.h"
#include "inference/sampling.h"
#include "inference/search.h"

typedef struct Greedy {
    const SearchBatch *batch;
    Predictor predictor;
    Prefix *live;  // [S n_best]; their `search` numbers the hypotheses of a sentence
    Sampling sampling;
} Greedy;

/* Takes the buffers for a batch, or measures them (arena.h). The batch must stay where it is.
 * Its config has a beam of 1, or `sample`. */
void greedy_layout(Greedy *greedy, Arena *arena, const SearchBatch *batch);

/* Fills in the batch's results. false: a number of the network is not finite. */
bool greedy_search(Greedy *greedy);
