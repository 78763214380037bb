/* predictor.h -- what comes next: the scores of every token for all live hypotheses of a batch of
 * sentences, from one model or an ensemble.
 *
 *     predictor_encode(&predictor);
 *     for each step:
 *         predictor_step(&predictor, prefix, count);
 *         for each row r, from 0 on:
 *             double normaliser;
 *             real *z = predictor_row(&predictor, r, &normaliser);
 *                                          ln p(c) = z[c] - normaliser */
#ifndef INFERENCE_PREDICTOR_H
#define INFERENCE_PREDICTOR_H

#include "inference/cache.h"
#include "inference/ensemble.h"
#include "inference/search.h"

typedef struct Predictor {
    const Ensemble *ensemble;
    Cache cache[MAX_MODELS];    // all with the same nodes
    const real *X[MAX_MODELS];  // [rows,D] what the decoders gave in this step
    real *logits[MAX_MODELS];   // one block of loss.h each
    int *written;               // [steps]
    int rows;                   // of this step
} Predictor;

/* Takes the buffers; measures if the arena is a measuring one. For up to `each` hypotheses of every
 * sentence, as long as its task allows. */
void predictor_layout(Predictor *predictor, Arena *arena, const Ensemble *ensemble,
                      const Packed *source, const SearchTask *task, int each);

void predictor_encode(Predictor *predictor);
void predictor_step(Predictor *predictor, const Prefix *prefix, int count);

/* The scores [V-1] of row r, from 0 on, to be overwritten by whoever likes. *normaliser (=); NULL
 * with one model spares computing it. NaN if a number is not finite. */
real *predictor_row(Predictor *predictor, int r, double *normaliser);

/* The tokens [step-1] that row r of this step has read, without <pad>; until the next call. */
const int *predictor_written(Predictor *predictor, int r);

/* The tree that the hypotheses are paths of. */
static inline const Cache *predictor_tree(const Predictor *predictor)
{
    return &predictor->cache[0];
}

#endif
