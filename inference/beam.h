/* beam.h -- greedy search, beam search and sampling: the hypotheses of all sentences of a batch are
 * extended together, a token a step. */
#pragma once

#include "base/arena.h"
#include "inference/search.h"

/* Fills in the batch's results. arena: grows if it is too small. false: not enough memory, or a
 * number of the network that is not finite. */
bool beam_search(const SearchBatch *batch, Arena *arena, Error *error);
