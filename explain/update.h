/* update.h -- one update of a model by one sentence pair, with all that it computed.
 *
 *   forward and backward   the pass of training without dropout, which keeps the gradients of
 *                          every head (inference/snapshot.h)
 *   the update             trainer_update: clipping, weight decay and Adam as in the training
 *
 * The options of the training, label smoothing among them, are those that the checkpoint holds;
 * R-Drop and the moving average are left out. If the checkpoint has Adam's moments, as
 * last.safetensors has, the update is the one that would follow; else it is Adam's first. The
 * learning rate is the schedule's; if that has come to 0, it is that of the first update. */
#pragma once

#include "inference/snapshot.h"
#include "training/trainer.h"

typedef struct Update {
    Transformer model;  // after the update
    TrainingConfig config;
    Workers *workers;
    Trainer *trainer;
    bool moments;              // they are from the checkpoint
    bool ended;                // the schedule has come to 0
    long long number;          // of the update, 1, 2, …
    real *weights;             // [params.size] before the update
    real *gradient;            // [params.size] before clipping
    Weights before, dw, m, v;  // in the weights, the gradient and Adam's moments
    UpdateStats stats;
    Loss loss[2];           // before and after
    Snapshot *snapshot[2];  // before, with gradients, and after; both say the updated `model`
} Update;

/* file: a checkpoint with the weights of `model`, the network that the snapshot is of. Call
 * update_close even if this fails. */
bool update_open(Update *update, const char *file, const Snapshot *snapshot, Error *error);
void update_close(Update *update);  // does nothing for {0}
