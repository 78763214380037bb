/* optimizer.h -- from the sum of an update's gradients to new weights, and to their average.
 *
 * Three blocks in the layout of the parameters go with the weights: Adam's moments m and v,
 * and, with --ema, a moving average of the weights. A rank holds and updates its part of them
 * (gradients.h); on rank 0, which writes checkpoints, they have room for the whole. */
#ifndef TRAINING_OPTIMIZER_H
#define TRAINING_OPTIMIZER_H

#include "training/adam.h"
#include "training/config.h"
#include "training/gradients.h"

typedef struct Optimizer {
    const TrainingConfig *config;
    const Gradients *gradients;
    Transformer *model;
    real *m, *v;    // of the own part; on rank 0 with room for the whole
    real *ema;      // the same; NULL without --ema
    AdamStep step;  // of the update that is being made
    real decay_share, ema_share;
} Optimizer;

/* Borrows all; every block starts at zero. optimizer_free what was created in part, too. */
bool optimizer_create(Optimizer *optimizer, Transformer *model, const Gradients *gradients,
                      const TrainingConfig *config, Error *error);
void optimizer_free(Optimizer *optimizer);

/* Update number 1, 2, … of the own part of the weights by the gradients' sum, which is first
 * multiplied by `scale`. */
void optimizer_update(Optimizer *optimizer, long long update, double rate, double scale,
                      Workers *workers);

/* The parts of all blocks to rank 0, and from it. Collective. */
bool optimizer_gather(const Optimizer *optimizer, Error *error);
bool optimizer_scatter(const Optimizer *optimizer, Error *error);

/* Bytes of the blocks on this rank. */
size_t optimizer_memory(const Optimizer *optimizer);

#endif
