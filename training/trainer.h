/* trainer.h -- one update of the weights from one update's sentences, on all threads of all ranks.
 *
 * An update is cut into micro-batches of about micro_tokens, evenly, by the data and the
 * configuration alone; their gradients go to A accumulators in a fixed order (passes.h), which are
 * then summed pairwise. So the bits are the same whatever the number of threads. With R-Drop, loss
 * and objective are means over both copies.
 *
 * With several ranks (distributed.h) every rank is given the same sentences and holds some of the
 * accumulators; it runs their micro-batches. gradients.h has the rest, and why the bits are those
 * of one process. */
#ifndef TRAINING_TRAINER_H
#define TRAINING_TRAINER_H

#include "base/workers.h"
#include "model/transformer.h"
#include "training/config.h"

typedef struct Trainer Trainer;

enum { SUSPECTS = 5 };

typedef struct UpdateStats {
    Loss loss;             // over the update's target tokens
    double gradient_norm;  // before clipping
    double learning_rate;
    double flops;      // as transformer_flops counts them
    long long tokens;  // source + target
    bool not_finite;   // why the update failed; then
    int suspects;      // are these sentences, of its first micro-batch with such a loss or,
    int suspect[SUSPECTS];  // if there is none, of the update
} UpdateStats;

/* Borrows model, config and workers. The moments start at zero, and so does the moving average,
 * which is to be given the initial weights. At most as many ranks as accumulators. */
Trainer *trainer_create(Transformer *model, const TrainingConfig *config, Workers *workers,
                        Error *error);
void trainer_free(Trainer *trainer);

/* Adam's moments and the moving average of the weights (NULL without --ema), in the layout of
 * the parameters: for a checkpoint to write and fill. They are whole on rank 0 only: between
 * trainer_gather and the next update, and to be given to their owners by trainer_scatter. Both
 * are collective; for one rank there is nothing to do. */
real *trainer_m(Trainer *trainer);
real *trainer_v(Trainer *trainer);
real *trainer_ema(Trainer *trainer);
bool trainer_gather(Trainer *trainer, Error *error);
bool trainer_scatter(Trainer *trainer, Error *error);

/* Update number 1, 2, …. False: the loss or a gradient is not finite, the sentence names the
 * update and the first bad tensor, stats say so, and the weights are as before. Collective, and
 * it begins with an agree. */
bool trainer_update(Trainer *trainer, long long update, const Packed *source,
                    const Packed *target, UpdateStats *stats, Error *error);

/* *norm (=) that of one tensor's gradient in the last update, before clipping. Collective. */
bool trainer_gradient_norm(Trainer *trainer, double *norm, const Tensor *tensor, Error *error);

/* The loss without dropout, for validation: all of it on the rank that calls this. */
bool trainer_evaluate(Trainer *trainer, const Packed *source, const Packed *target, Loss *loss,
                      Error *error);

/* What --accumulators 0 and 1 mean to a run that begins: one for each processor of this machine,
 * 2 to 8, or a single one; in either case at least one for each rank. Other numbers are
 * themselves. */
int trainer_first_accumulators(int wanted);

/* How many of `threads` can be at work at a time, on all ranks together. */
int trainer_at_work(const Trainer *trainer, int threads);

/* Bytes that training takes on this rank: weights, moments, accumulators, activations of all
 * workers so far. */
size_t trainer_memory(const Trainer *trainer);

/* *bytes (=) of activations, once every thread that can be at work has had the largest
 * micro-batch of an update of these sentences. */
bool trainer_activations(Trainer *trainer, size_t *bytes, const Packed *source,
                         const Packed *target, Error *error);

#endif
