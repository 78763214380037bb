/* beam.h -- greedy search, beam search and sampling: the hypotheses of all sentences of a batch are
 * extended together, a token a step. */
#pragma once

#include "base/arena.h"
#include "inference/search.h"

/* Memory of beam_search. */
size_t beam_bytes(const SearchBatch *batch);

/* Fills in the batch's results, in an empty arena of beam_bytes. false: a number of the network is
 * not finite. */
bool beam_search(const SearchBatch *batch, Arena *arena);
