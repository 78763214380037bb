/* validation.h -- how good a model in training is: loss and translations of held-out pairs.
 *
 * The candidate, which is the weights or with --ema X their moving average, is validated, makes
 * the sample translations, and becomes best.safetensors. last.safetensors has the weights
 * themselves and their moving average, which training resumes from.
 *
 * With --keep-last K the last K candidates are kept as files such as
 * update-000108.safetensors, written after update 108, without Adam's moments. The run writes
 * and removes them in an order in which kill -9 at any time loses nothing and leaves nothing
 * behind:
 *
 *   (1)  write the new candidate          killed before (4): the same command writes it again
 *   (2)  validate it
 *   (3)  save best.safetensors
 *   (4)  save last.safetensors; its progress lists the files that are kept and those dropped
 *   (5)  remove the dropped               killed before: the next start removes them
 *
 * A file that last.safetensors does not list is never read and never removed. */
#pragma once

#include <signal.h>

#include "commands/train/run.h"
#include "inference/translator.h"

typedef struct Validation {
    Run *run;  // its model and its validation corpus are used
    Batches batches;
    int translations;     // how many pairs, from the first, are translated
    SearchConfig search;  // greedy
    real *weights;        // the model's own block, while the candidate replaces it
    /* results of the last validation_run */
    Quality quality;  // NaN: no BLEU and chrF, as nothing was translated
    int translated;
    int exact;          // translations equal to their reference
    char **hypothesis;  // [translated]
    Translations ids;
} Validation;

/* Sets run->valid_epochs. Call it after run_prepare. Collective. */
bool validation_create(Validation *validation, Run *run, Error *error);
void validation_free(Validation *validation);

/* Step (1): run->model uses the candidate's weights until validation_leave, which is to be
 * called even if this fails. Call it on rank 0, after optimizer_send to it. */
bool validation_enter(Validation *validation, Error *error);
void validation_leave(Validation *validation);

/* Step (2): computes the results with the current weights of run->model. False with ids.stopped if *stop
 * was set during the translation; false with an error if the loss is not finite. */
bool validation_run(Validation *validation, const volatile sig_atomic_t *stop, Error *error);

/* Step (5). */
bool validation_remove_dropped(const Run *run, Error *error);

/* *bytes (=) the largest amount of memory that the translation can take. */
bool validation_memory(Validation *validation, size_t *bytes, Error *error);
