/* models.h -- the models of one translation: one, or an ensemble with one vocabulary. */
#ifndef INFERENCE_MODELS_H
#define INFERENCE_MODELS_H

#include "inference/bundle.h"
#include "inference/ensemble.h"

typedef struct Models {
    Bundle bundle[MAX_MODELS];  // use the vocabulary and max_length of the first
    Ensemble ensemble;          // of all
} Models;

/* Loads each path (bundle_load) and prepares its matrices (bundle_prepare). The tokenizers must
 * be the same byte for byte, so that an id means the same word in each model. The struct must
 * stay where it is. */
bool models_load(Models *models, const StringList *paths, bool int8, Error *error);
void models_free(Models *models);  // does nothing for {0}

#endif
