/* models.h -- the models that translate together: one, or an ensemble with one vocabulary. */
#ifndef INFERENCE_MODELS_H
#define INFERENCE_MODELS_H

#include "inference/bundle.h"
#include "inference/ensemble.h"

typedef struct Models {
    Bundle bundle[MAX_MODELS];  // the first one's vocabulary and max_length are everyone's
    Ensemble ensemble;          // of all
} Models;

/* Loads each path (bundle_load), its matrices prepared for translating, as int8 or as floats. Models
 * whose tokenizers are not the same byte for byte are an error: their ids would mean different
 * words. The struct must stay where it is. */
bool models_load(Models *models, const StringList *paths, bool int8, Error *error);
void models_free(Models *models);  // fine on {0}

#endif
