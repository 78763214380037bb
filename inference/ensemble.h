/* ensemble.h -- one model, or several models that translate together.
 *
 *   p(c | y_<t, x) = 1/M Σ_m p_m(c | y_<t, x)
 *
 * The mean of the probabilities is a distribution, so log p, perplexity and sampling mean the same as
 * for one model. By Jensen's inequality its loss is at most the mean of the models' losses. One model
 * that is certain and wrong cannot rule out a token, as it can in a mean of logarithms.
 *
 * The models may have different shapes, but must have the same vocabularies. */
#pragma once

#include "inference/screening.h"
#include "inference/shortlist.h"
#include "model/transformer.h"

enum { MAX_MODELS = 8 };

typedef struct Ensemble {
    const Transformer *model[MAX_MODELS];
    int count;
    const Shortlist *shortlist;  // that of the model if it is alone; or NULL
    const Screening *screening;  // the same
} Ensemble;

static inline Ensemble ensemble_of(const Transformer *model)
{
    return (Ensemble){.model = {model}, .count = 1};
}

/* The first model's config, with the smallest max_length of all. */
static inline ModelConfig ensemble_config(const Ensemble *ensemble)
{
    ModelConfig config = ensemble->model[0]->config;
    for (int m = 1; m < ensemble->count; m++)
        if (ensemble->model[m]->config.max_length < config.max_length)
            config.max_length = ensemble->model[m]->config.max_length;
    return config;
}

/* The tokens that have a score, V-1; also the id of <pad>. */
static inline int ensemble_tokens(const Ensemble *ensemble)
{
    return ensemble->model[0]->config.vocab - 1;
}
