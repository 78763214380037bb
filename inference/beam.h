/* beam.h -- the best few hypotheses, kept side by side: beam search. */
#ifndef INFERENCE_BEAM_H
#define INFERENCE_BEAM_H

#include "inference/cache.h"
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

typedef struct BeamSentence {
    int limit;             // tokens
    int live;              // prefixes, neighbours in BeamSearch.live
    Candidate *candidate;  // [beam] of this step, best first
    int candidates;
    Ended *ended;  // [beam] best first
    int count;     // of ended
} BeamSentence;

typedef struct BeamSearch {
    const SearchConfig *config;
    const Packed *source;
    Cache cache;
    BeamSentence *sentence;       // [S]
    int rows;                     // live prefixes of all sentences
    Prefix *live, *next;          // [S beam]
    double *live_log, *next_log;  // [S beam] their log probabilities
    real *logits;                 // one block of loss.h
} BeamSearch;

/* Takes the buffers for these sentences; measures if the arena is a measuring one. */
void beam_layout(BeamSearch *beam, Arena *arena, const Transformer *model, const Packed *source,
                 const SearchConfig *config);

/* Fills found[s]->hypothesis[0 .. n_best-1], whose ids have room for search_limit tokens, and sets
 * their count. false: the network's numbers are not finite. */
bool beam_search(Translation *const *found, BeamSearch *beam, const Transformer *model);

#endif
