/* progress.h -- how far a run has come: what a checkpoint holds besides numbers and configuration.
 *
 * All randomness is a function of seed, epoch and update, so this is enough to go on as if the
 * run had never stopped. Nothing in a checkpoint depends on the clock or on the threads: the same
 * run gives the same bytes. */
#ifndef TRAINING_PROGRESS_H
#define TRAINING_PROGRESS_H

#include "base/error.h"
#include "training/config.h"

/* How good a validation was. Without translations there is no BLEU and no chrF: NAN. */
typedef struct Quality {
    double loss, bleu, chrf;
} Quality;

/* The updates of validations whose weights are files (commands/train/candidate.h), in order. */
typedef struct UpdateList {
    long long update[MAX_SNAPSHOTS];
    int count;
} UpdateList;

typedef struct Progress {
    long long update;           // updates done
    long long epoch;            // the epoch that the next update is in, from 0
    long long update_in_epoch;  // updates of it that are done
    Quality best;               // of the validation that is in best.safetensors
    long long best_update;      // after which it was; 0: there was none
    long long validated;        // the update after which the last validation was
    int stale;                  // validations since the best one
    UpdateList kept;            // whose files are there
    UpdateList dropped;         // whose files may go once this is saved
    /* sums since the last train line of metrics.jsonl, so that the next one is the same, too */
    double nll, objective, norm;
    long long tokens, updates;  // target tokens
    double seconds;             // spent in training; not in checkpoints, but in metrics.jsonl
} Progress;

Progress progress_start(void);

/* Whether a validation is better than the best so far. */
bool progress_better(const Progress *progress, const Quality *quality, Criterion criterion);

/* Keeps `update` as the last of at most `most` kept ones; older ones become the dropped ones.
 * With most = 0 the list is forgotten and nothing is dropped. */
void progress_keep(Progress *progress, long long update, int most);

/* One line of JSON; free() it. NULL if memory is short. */
char *progress_to_json(const Progress *progress);

/* Unknown keys are ignored, missing ones and numbers that cannot be are errors. */
bool progress_from_json(Progress *progress, const char *text, const char *source, Error *error);

#endif
