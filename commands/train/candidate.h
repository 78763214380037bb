/* candidate.h -- the weights that a validation evaluates.
 *
 *   a snapshot     the weights at one validation; with --ema X their moving average
 *   the candidate  the snapshot; with --average K the mean of the last K snapshots
 *
 * The candidate is validated, makes the sample translations, and becomes best.safetensors.
 * last.safetensors has the weights themselves and their moving average, which training resumes
 * from.
 *
 * With --average K or --keep-last K the last K snapshots are kept as files such as
 * update-000108.safetensors, written after update 108, without Adam's moments. The run writes
 * and removes them in an order in which kill -9 at any time loses nothing and leaves nothing
 * behind:
 *
 *   (1)  write the new snapshot           killed before (4): the same command writes it again
 *   (2)  make the candidate, validate it
 *   (3)  save best.safetensors
 *   (4)  save last.safetensors; its progress lists the snapshots that are kept and those dropped
 *   (5)  remove the dropped               killed before: the next start removes them
 *
 * A file that last.safetensors does not list is never read and never removed. */
#ifndef COMMANDS_TRAIN_CANDIDATE_H
#define COMMANDS_TRAIN_CANDIDATE_H

#include "commands/train/run.h"

typedef struct Candidate {
    real *weights;  // the model's own block, while the candidate replaces it; else NULL
    real *mean;     // of snapshots, or NULL
} Candidate;

/* The number of snapshots that are kept as files. */
int candidate_files(const TrainingConfig *config);

/* Steps (1) and (2): run->model uses the candidate's weights until candidate_leave, or its own
 * if this fails. Call it on rank 0, after optimizer_send to it. */
bool candidate_enter(Candidate *candidate, Run *run, Error *error);
void candidate_leave(Candidate *candidate, Run *run);

/* Lists the snapshot of this update as kept. Call it before step (4). */
void candidate_keep(Run *run);

/* Step (5). */
bool candidate_remove_dropped(const Run *run, Error *error);

#endif
