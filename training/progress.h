/* progress.h -- the state of a run: what a checkpoint holds besides tensors and configuration.
 *
 * All randomness is a function of seed, epoch and update, so a run that resumes from this state
 * continues as if it had never stopped. Nothing in a checkpoint depends on the clock or on the
 * threads: the same run gives the same bytes. */
#pragma once

#include "base/error.h"
#include "training/config.h"

/* The results of a validation. BLEU and chrF are NAN if nothing was translated. */
typedef struct Quality {
    double loss, bleu, chrf;
} Quality;

enum { KERNELS_NAME = 96 };

typedef struct Progress {
    long long update;           // updates done
    long long epoch;            // of the next update, from 0
    long long update_in_epoch;  // updates of that epoch done
    Quality best;               // of the validation in best.safetensors
    long long best_update;      // the update before that validation; 0: none yet
    long long validated;        // the update before the last validation
    long long stale;            // validations since the best one
    /* sums since the last train line of metrics.jsonl, for the next one */
    double nll, objective, norm;
    long long tokens, updates;   // target tokens
    double corpus;               // a hash of token ids and vocabulary, 53 bits; NAN: unknown
    double valid;                // a hash of the validation text; NAN: unknown
    double doubtful;             // of the last validation (data/textprofile.h); 0: none
    char kernels[KERNELS_NAME];  // that the last update ran with: "avx2"; "": unknown
    double seconds;              // spent in training; not in checkpoints, but in metrics.jsonl
} Progress;

Progress progress_start(void);

/* Whether a validation is better than the best so far. */
bool progress_better(const Progress *progress, const Quality *quality, Criterion criterion);

/* One line of JSON, for free(); NULL if memory is short. */
char *progress_to_json(const Progress *progress);

/* Ignores unknown keys; impossible values are errors, and so is a missing count. */
bool progress_from_json(Progress *progress, const char *text, const char *source, Error *error);
