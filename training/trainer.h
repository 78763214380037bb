/* trainer.h -- one update of the weights from one update's sentences, on all threads of all
 * ranks.
 *
 * The sentences are cut into micro-batches of about micro_tokens (microbatch.h), by the data and
 * the configuration alone. Micro-batch k adds its gradients to accumulator k mod A, after
 * micro-batch k - A has done so; then the accumulators are summed pairwise. Each number is
 * therefore the sum of the same terms in the same order, whatever the number of threads, of which
 * at most A work at a time.
 *
 * With R-Drop (model/loss.c) a micro-batch has half the sentences, each twice; loss and objective
 * are means over both copies.
 *
 * With several ranks (distributed.h) every rank gets the same sentences, holds some of the
 * accumulators, and runs their micro-batches. gradients.h says how they are summed, and why the
 * bits are those of one process. */
#pragma once

#include <pthread.h>

#include "base/workers.h"
#include "model/transformer.h"
#include "training/config.h"
#include "training/gradients.h"
#include "training/microbatch.h"
#include "training/optimizer.h"

/* The optimizer's blocks m, v and ema are in the layout of the parameters, for a checkpoint to
 * write and fill. They are whole on rank 0 only, between optimizer_send to it and the next
 * update. */
typedef struct Trainer {
    Transformer *model;
    const TrainingConfig *config;
    const Supervision *supervision;  // or NULL
    Workers *workers;
    Gradients gradients;
    Optimizer optimizer;
    /* the micro-batches of an update, or of an evaluation */
    bool training;
    long long update;
    const PairIds *pair;
    long long rows;  // target tokens
    MicroBatchPlan plan;
    double *nll;                 // [plan.count] of each micro-batch; 0 for those of other ranks
    double *objective;           // [plan.count] behind nll
    size_t nll_size;             // numbers allocated
    MicroBatch *batch;           // [threads]
    pthread_mutex_t lock;        // of done
    pthread_cond_t finished;     // a micro-batch
    int done[MAX_ACCUMULATORS];  // the micro-batches that each accumulator has
} Trainer;

typedef struct UpdateStats {
    Loss loss;             // over the update's target tokens
    double gradient_norm;  // before clipping
    double flops;          // as transformer_flops counts them
    long long tokens;      // source + target
} UpdateStats;

/* Borrows its arguments; supervision, or NULL, need not be complete before the first update.
 * Moments and moving average start at zero; fill the average with the initial weights. There must
 * be no more ranks than accumulators. */
Trainer *trainer_create(Transformer *model, const TrainingConfig *config,
                        const Supervision *supervision, Workers *workers, Error *error);
void trainer_free(Trainer *trainer);

/* Makes update number 1, 2, … with dropout. False if the loss or a gradient is not finite: the
 * error names the update and the first such tensor, and the weights are as before. Collective;
 * calls distributed_agree before any other collective function. */
bool trainer_update(Trainer *trainer, long long update, const PairIds *pair, int pairs,
                    UpdateStats *stats, Error *error);

/* The loss without dropout, for validation, computed on the calling rank alone. */
bool trainer_evaluate(Trainer *trainer, const PairIds *pair, int pairs, Loss *loss,
                      Error *error);

/* The number of accumulators of a new run: `wanted`, or, if it is 0, one for each processor of
 * this machine, 2 to 8; with several ranks as many or more, the same number for each. */
int trainer_first_accumulators(int wanted);
