/* beam.h -- beam search: the best few hypotheses of every sentence, extended together. */
#pragma once

#include "inference/choices.h"
#include "inference/search.h"

/* A live prefix and one more token. */
typedef struct BeamCandidate {
    double log_probability;
    int row;  // of the prefix, at this step
    int token;
} BeamCandidate;

/* A finished hypothesis: the path to `node`, and </s>. */
typedef struct Finished {
    double score, log_probability;
    int node, length;
} Finished;

/* One search. A sentence has one, or with `alternatives` one for each first token. */
typedef struct Beam {
    BeamCandidate *candidate;  // [max(beam, searches)] of this step, best first
    int candidates;
    Finished *finished;  // [beam + 1] best first
    int count;           // of finished
} Beam;

typedef struct BeamSearch {
    const SearchBatch *batch;
    int searches;  // of each sentence
    int n_best;    // results of each search
    Predictor predictor;
    Best *token;          // [max(beam, searches)] of a row
    Beam *beam;           // [S searches]
    int rows;             // live prefixes of all searches
    Prefix *live, *next;  // [S search_rows] of this step and of the next one
} BeamSearch;

/* Takes the buffers for a batch, or measures them (arena.h). Keep the batch in place. */
void beam_layout(BeamSearch *search, Arena *arena, const SearchBatch *batch);

/* Fills in the batch's results. false: a number of the network is not finite. */
bool beam_search(BeamSearch *search);
