/* predictor.h -- the scores of every next token, for all live hypotheses of a batch, from one
 * model or an ensemble.
 *
 *     predictor_encode(&predictor);
 *     for each step:
 *         predictor_step(&predictor, prefix, count);
 *         for each row r, in order:
 *             double normaliser;
 *             real *z = predictor_row(&predictor, r, &normaliser);
 *                                          ln p(c) = z[c] - normaliser */
#pragma once

#include "inference/cache.h"
#include "inference/ensemble.h"
#include "inference/sampling.h"
#include "inference/search.h"

typedef struct Predictor {
    const SearchBatch *batch;
    Cache cache[MAX_MODELS];    // all with the same tree of hypotheses
    const real *X[MAX_MODELS];  // [rows,D] each decoder's output at this step
    real *logits[MAX_MODELS];   // one block each (loss.h)
    int *written;               // [steps] scratch of choices_forbid
    Sampling sampling;          // if the config samples
    int rows;                   // of this step
} Predictor;

/* Takes the buffers for a batch, or measures them (arena.h). */
void predictor_layout(Predictor *predictor, Arena *arena, const SearchBatch *batch);

void predictor_encode(Predictor *predictor);

/* One step of all models. Returns the node of prefix 0; that of prefix i is i more. */
int predictor_step(Predictor *predictor, const Prefix *prefix, int count);

/* The scores [V-1] of row r, which the caller may overwrite. Call it for r = 0, 1, … in order.
 * *normaliser (=), NaN if a score is not finite. With one model, pass NULL if it is not
 * needed. */
real *predictor_row(Predictor *predictor, int r, double *normaliser);
