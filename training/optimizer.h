/* optimizer.h -- from the sum of an update's gradients to new weights, and to their average.
 *
 * It holds three blocks in the layout of the parameters: Adam's moments m and v and, with
 * --ema, a moving average of the weights. For a matrix that Muon updates, m is its momentum and
 * v stays zero. A rank holds and updates its own part of them (gradients.h); rank 0, which
 * writes checkpoints, allocates the whole.
 *
 * Muon needs a matrix as a whole, in two steps: every rank makes the momentum of its own part and
 * gets that of the others; then it orthogonalises each matrix of which it owns a part. So the
 * bits do not depend on the ranks. */
#pragma once

#include "model/checkpoint.h"
#include "training/config.h"
#include "training/distributed.h"
#include "training/gradients.h"
#include "training/muon.h"

typedef struct Optimizer {
    const TrainingConfig *config;
    Gradients *gradients;
    Transformer *model;
    real *m, *v;  // Adam's moments of the own part; on rank 0 followed by the other parts
    real *ema;    // in the same way; NULL without --ema
    CheckpointBlock block[4];  // these, as a checkpoint has them
    /* of the current update */
    long long update;
    double rate, scale;
    real decay_share, ema_share;
    real *workspace;  // [threads][workspace_size] of muon_orthogonal, or NULL
    size_t workspace_size;
} Optimizer;

/* Borrows its arguments, which must outlive it; every block starts at zero. `threads`: those
 * that will update. Call optimizer_free even if this fails. */
bool optimizer_create(Optimizer *optimizer, Transformer *model, Gradients *gradients,
                      const TrainingConfig *config, int threads, Error *error);
void optimizer_free(Optimizer *optimizer);

/* The learning rate of `update`, 1, 2, …. Cosine and linear decay reach 0 at max_updates;
 * if that is 0 they stay at the peak. */
double schedule_rate(const TrainingConfig *config, long long update);

/* w, m, v (=) after Adam's update number 1, 2, … of `count` numbers with gradient scale · g; m and v
 * start at zero. */
void adam_update(real *w, real *m, real *v, const real *g, size_t count,
                 const TrainingConfig *config, long long update, double rate, double scale);

/* Updates the own part of the weights from the gradients' sum, multiplied by `scale`; `update`
 * is 1, 2, …. Overwrites the sum. Weights, moments and average of frozen tensors keep their
 * bits. Collective. */
bool optimizer_update(Optimizer *optimizer, long long update, double rate, double scale,
                      Workers *workers, Error *error);

/* Sends all ranks' parts of the three blocks to rank 0 (`send` is distributed_gather), or back
 * (distributed_scatter). Collective. */
bool optimizer_send(const Optimizer *optimizer, DistributedSend *send, Error *error);
