/* predictor.h -- the scores of every next token, for all live hypotheses of a batch, from one
 * model or an ensemble.
 *
 *     predictor_encode(&predictor);
 *     for each step:
 *         predictor_step(&predictor, prefix, count);
 *         for each row r, in order:
 *             double normaliser;
 *             Scores scores = predictor_row(&predictor, r, &normaliser);
 *                       ln p = scores.z[c] - normaliser   of the token scores_token(&scores, c) */
#pragma once

#include "inference/cache.h"
#include "inference/ensemble.h"
#include "inference/sampling.h"
#include "inference/search.h"

/* The bytes of a character of UTF-8 after its first. A shortlist that has a byte beyond ASCII has all
 * of them, so that each character can end. */
enum { CONTINUATION = 0x80, CONTINUATIONS = 64 };

/* The scores of one row. */
typedef struct Scores {
    real *z;           // [count]
    int count;         // V-1, or fewer with a shortlist
    const int *token;  // [count] which tokens they are of, ascending; NULL: z[c] of token c
} Scores;

static inline int scores_token(const Scores *scores, int c)
{
    return scores->token ? scores->token[c] : c;
}

/* The place of a token's score, or -1 if it has none. */
int scores_place(const Scores *scores, int token);

/* The tokens of a sentence's shortlist, and their rows of the output layer. */
typedef struct Candidates {
    int count;
    int *token;  // [count]
    const Int8Matrix *rows;
    real *bias;  // [count]
} Candidates;

typedef struct Predictor {
    const SearchBatch *batch;
    Cache cache[MAX_MODELS];    // all with the same tree of hypotheses
    const real *X[MAX_MODELS];  // [rows,D] each decoder's output at this step
    real *logits[MAX_MODELS];   // one block each (loss.h)
    int *written;               // [steps] scratch of choices_forbid
    Sampling sampling;          // if the config samples
    Candidates *candidates;     // [S] with a shortlist, else NULL
    uint64_t *bits;             // scratch of shortlist_find
    const Prefix *prefix;       // [rows] of this step
    int rows;                   // of this step
    int first;                  // the row that the logits begin with
    bool screened;              // scores are those of screening.h
} Predictor;

/* Takes the buffers for a batch, or measures them (arena.h). */
void predictor_layout(Predictor *predictor, Arena *arena, const SearchBatch *batch);

void predictor_encode(Predictor *predictor);

/* One step of all models. Returns the node of prefix 0; that of prefix i is i more. */
int predictor_step(Predictor *predictor, const Prefix *prefix, int count);

/* The scores of row r, which the caller may overwrite. Call it for r = 0, 1, … in order.
 * *normaliser (=), NaN if a score is not finite. With one model, pass NULL if it is not
 * needed. */
Scores predictor_row(Predictor *predictor, int r, double *normaliser);
