/* beam.h -- the best few hypotheses, kept side by side: beam search. */
#ifndef INFERENCE_BEAM_H
#define INFERENCE_BEAM_H

#include "inference/predictor.h"
#include "inference/search.h"

/* A prefix and one token more. */
typedef struct Candidate {
    double log_probability;
    int row;  // of this step: which prefix
    int token;
} Candidate;

/* A hypothesis that ended: the path to `node`, and </s>. */
typedef struct Ended {
    double score, log_probability;
    int node, length;
} Ended;

/* The search for the best hypotheses of a sentence; with --alternatives, for the best one that has
 * a certain first token, so that a sentence has as many searches. */
typedef struct Beam {
    Candidate *candidate;  // [room] of this step, best first
    int candidates;
    Ended *ended;  // [beam] best first
    int count;     // of ended
} Beam;

typedef struct BeamSearch {
    const SearchConfig *config;
    const Packed *source;
    const SearchTask *task;  // [S]
    int searches;            // of each sentence
    Predictor predictor;
    Beam *beam;                   // [S searches]
    int rows;                     // live prefixes of all searches
    Prefix *live, *next;          // [S search_rows]
    double *live_log, *next_log;  // their log probabilities
    int *live_of, *next_of;       // and the search that each belongs to
} BeamSearch;

/* Takes the buffers for these sentences; measures if the arena is a measuring one. */
void beam_layout(BeamSearch *search, Arena *arena, const Ensemble *ensemble,
                 const Packed *source, const SearchTask *task, const SearchConfig *config);

/* Fills found[s]->hypothesis[0 .. search_results-1], whose ids have room for the task's limit of
 * tokens, and sets their count. false: the network's numbers are not finite. */
bool beam_search(Translation *const *found, BeamSearch *search);

#endif
