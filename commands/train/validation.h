/* validation.h -- how good a model in training is: loss and translations of held-out pairs.
 *
 * The candidate, which is the weights or with --ema X their moving average, is validated, makes
 * the sample translations, and becomes best.safetensors. last.safetensors has the weights
 * themselves and their moving average, which training resumes from. */
#pragma once

#include "commands/train/run.h"
#include "inference/translator.h"

typedef struct Validation {
    Run *run;  // its model and its validation corpus are used
    Batches batches;
    int translations;     // how many pairs, from the first, are translated
    SearchConfig search;  // greedy
    /* results of the last validation_run */
    Quality quality;        // NaN: no BLEU and chrF, as nothing was translated
    int translated, exact;  // translations, and those equal to their reference
    double doubtful;        // data/textprofile.h; 0 if nothing is translated
    char **hypothesis;      // [translated]
    bool *is_exact;         // [translated]
    Translations ids;
} Validation;

/* Sets run->valid_epochs. Call it after run_prepare. Collective. */
bool validation_create(Validation *validation, Run *run, Error *error);
void validation_free(Validation *validation);

/* Computes the results with the current weights of run->model. False with ids.stopped if file_stop
 * was set during the translation; false with an error if the loss is not finite. */
bool validation_run(Validation *validation, Error *error);
