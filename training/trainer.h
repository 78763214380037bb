/* trainer.h -- one update of the weights from one update's sentences, on all threads of all
 * ranks.
 *
 * The sentences are cut into micro-batches of about micro_tokens, by the data and the
 * configuration alone; their gradients go to A accumulators in a fixed order (passes.h), which
 * are then summed pairwise. So the bits are the same whatever the number of threads. With
 * R-Drop, loss and objective are means over both copies.
 *
 * With several ranks (distributed.h) every rank gets the same sentences, holds some of the
 * accumulators, and runs their micro-batches. gradients.h says how they are summed, and why the
 * bits are those of one process. */
#pragma once

#include "base/workers.h"
#include "model/transformer.h"
#include "training/config.h"
#include "training/gradients.h"
#include "training/optimizer.h"
#include "training/passes.h"

/* The optimizer's blocks m, v and ema are in the layout of the parameters, for a checkpoint to
 * write and fill. They are whole on rank 0 only, between optimizer_send to it and the next
 * update. */
typedef struct Trainer {
    Transformer *model;
    const TrainingConfig *config;
    Workers *workers;
    Gradients gradients;
    Passes passes;
    Optimizer optimizer;
} Trainer;

enum { SUSPECTS = 5 };

typedef struct UpdateStats {
    Loss loss;             // over the update's target tokens
    double gradient_norm;  // before clipping
    double learning_rate;
    double flops;      // as transformer_flops counts them
    long long tokens;  // source + target
    bool not_finite;   // the update failed because of NaN or infinity; then
    int suspects;      // suspect [suspects] are sentences of the first micro-batch with such a
    int suspect[SUSPECTS];  // loss or, if there is none, of the update
} UpdateStats;

/* Borrows model, config and workers. Moments and moving average start at zero; fill the average
 * with the initial weights. There must be no more ranks than accumulators. */
Trainer *trainer_create(Transformer *model, const TrainingConfig *config, Workers *workers,
                        Error *error);
void trainer_free(Trainer *trainer);

/* Makes update number 1, 2, …. False if the loss or a gradient is not finite: the error names
 * the update and the first such tensor, stats has the sentences, and the weights are as before.
 * Collective; calls distributed_agree before any other collective function. */
bool trainer_update(Trainer *trainer, long long update, const Packed *source,
                    const Packed *target, UpdateStats *stats, Error *error);

/* The loss without dropout, for validation, computed on the calling rank alone. */
bool trainer_evaluate(Trainer *trainer, const Packed *source, const Packed *target, Loss *loss,
                      Error *error);

/* The number of accumulators of a new run: `wanted`, or, if it is 0, one for each processor of
 * this machine, 2 to 8, and at least one for each rank. */
int trainer_first_accumulators(int wanted);
