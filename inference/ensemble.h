/* ensemble.h -- one model, or several that translate as one.
 *
 *   p(c | y_<t, x) = 1/M Σ_m p_m(c | y_<t, x)
 *
 * It is the mean of probabilities, not of their logarithms: the result is a distribution as it
 * stands, so log p, perplexity and sampling mean what they mean for one model; by Jensen's
 * inequality its loss is at most the mean of the models' losses; and a model that is sure and wrong
 * cannot forbid what all the others say, as it can where logarithms are added.
 *
 * The models may have any shapes; their vocabularies must be the same. */
#ifndef INFERENCE_ENSEMBLE_H
#define INFERENCE_ENSEMBLE_H

#include "model/transformer.h"

enum { MAX_MODELS = 8 };

typedef struct Ensemble {
    const Transformer *model[MAX_MODELS];
    int count;
} Ensemble;

Ensemble ensemble_of(const Transformer *model);

/* Whether one more model can join: room, and vocabularies of the same sizes. */
bool ensemble_add(Ensemble *ensemble, const Transformer *model, Error *error);

/* The model's shape as far as text is concerned: the vocabularies, and the shortest max_length. */
ModelConfig ensemble_config(const Ensemble *ensemble);

#endif
