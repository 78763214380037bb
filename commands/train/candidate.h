/* candidate.h -- the weights that a validation is about.
 *
 *   a snapshot     the weights as of one validation; with --ema X their moving average
 *   the candidate  the snapshot; with --average K the mean of the last K snapshots
 *
 * The candidate is what is validated, what the sample translations show, and what becomes
 * best.safetensors. last.safetensors has the weights themselves, and their moving average: what
 * training goes on with.
 *
 * With --average K or --keep-last K the last K snapshots are files update-000108.safetensors
 * (108: the update), models without Adam's moments. The run writes and removes them in an order
 * in which kill -9 at any time loses nothing and leaves nothing behind:
 *
 *   (1)  write the new snapshot           killed before (4): the same command writes it again
 *   (2)  make the candidate, validate it
 *   (3)  save best.safetensors
 *   (4)  save last.safetensors; its progress tells which snapshots are kept, and which were
 *        dropped
 *   (5)  remove the dropped               killed before: the next start does it
 *
 * So a file that last.safetensors does not tell of is never read and never removed. */
#ifndef COMMANDS_TRAIN_CANDIDATE_H
#define COMMANDS_TRAIN_CANDIDATE_H

#include "commands/train/run.h"

typedef struct Candidate {
    real *weights;  // the model's own block, while the candidate takes its place; else NULL
    real *mean;     // of snapshots, or NULL
} Candidate;

/* How many snapshots stay as files. */
int candidate_files(const TrainingConfig *config);

/* Steps (1) and (2): run->model has the candidate's weights, until candidate_leave. On false it
 * has its own. On rank 0, after trainer_gather. */
bool candidate_enter(Candidate *candidate, Run *run, Error *error);
void candidate_leave(Candidate *candidate, Run *run);

/* Counts the snapshot of this update among the kept: before step (4). */
void candidate_keep(Run *run);

/* Step (5). */
bool candidate_remove_dropped(const Run *run, Error *error);

#endif
