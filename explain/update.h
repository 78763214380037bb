/* update.h -- one update of a model by one sentence pair, with all that it computed: a pass of
 * training without dropout, which keeps the gradients of every head (inference/snapshot.h), and
 * trainer_update.
 *
 * The options are those of the training, label smoothing among them, without R-Drop and moving
 * average. If the checkpoint has Adam's moments, as last.safetensors has, the update is the one
 * that would follow; else it is the first. The learning rate is the schedule's; if that has come
 * to 0, it is that of the first update. */
#pragma once

#include "inference/snapshot.h"
#include "training/trainer.h"

typedef struct Update {
    Transformer model;  // after the update
    TrainingConfig config;
    Workers *workers;
    Trainer *trainer;
    bool moments, ended;       // they are from the checkpoint; the schedule has come to 0
    long long number;          // 1, 2, …
    real *weights, *gradient;  // [params.size] before the update; before clipping
    Weights before, dw, m, v;  // in the weights, the gradient and Adam's moments
    UpdateStats stats;
    Loss loss[2];           // before and after
    Snapshot *snapshot[2];  // before, with gradients, and after
} Update;

/* path: a checkpoint, or the folder of a run, whose network the snapshot is of. Call update_close
 * even if this fails. */
bool update_open(Update *update, const char *path, const Snapshot *snapshot, Error *error);
void update_close(Update *update);  // does nothing for {0}
