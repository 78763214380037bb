/* ensemble.c -- the list of models; see ensemble.h. */
#include "inference/ensemble.h"

Ensemble ensemble_of(const Transformer *model)
{
    return (Ensemble){.model = {model}, .count = 1};
}

bool ensemble_add(Ensemble *ensemble, const Transformer *model, Error *error)
{
    const ModelConfig *first = ensemble->count ? &ensemble->model[0]->config : &model->config;
    if (ensemble->count == MAX_MODELS)
        return error_set(error, "more than %d models cannot translate together", MAX_MODELS);
    if (model->config.vocab != first->vocab ||
        config_source_vocab(&model->config) != config_source_vocab(first))
        return error_set(error,
                         "a model of %d and %d tokens cannot translate with one of %d and "
                         "%d: they must have one vocabulary",
                         config_source_vocab(&model->config), model->config.vocab,
                         config_source_vocab(first), first->vocab);
    ensemble->model[ensemble->count++] = model;
    return true;
}

ModelConfig ensemble_config(const Ensemble *ensemble)
{
    ModelConfig config = ensemble->model[0]->config;
    for (int m = 1; m < ensemble->count; m++)
        if (ensemble->model[m]->config.max_length < config.max_length)
            config.max_length = ensemble->model[m]->config.max_length;
    return config;
}
