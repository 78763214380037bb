/* passes.h -- the network's passes over an update's sentences, on all threads of this rank.
 *
 * The sentences are cut into micro-batches (microbatch.h). Micro-batch k adds its gradients to
 * accumulator k mod A, after micro-batch k - A has done so. Each number is therefore the sum of
 * the same terms in the same order, whatever the number of threads. At most A threads work at a
 * time.
 *
 * With R-Drop (model/loss.c) a micro-batch has half the sentences, each twice; nll and
 * objective are means over both copies. */
#pragma once

#include <pthread.h>

#include "base/workers.h"
#include "training/config.h"
#include "training/gradients.h"
#include "training/microbatch.h"

/* One thread's state. */
typedef struct PassWorker {
    MicroBatch batch;
    Error error;
    bool failed;
} PassWorker;

typedef struct Passes {
    const Transformer *model;
    const TrainingConfig *config;
    Gradients *gradients;
    Workers *workers;
    PassWorker *worker;      // [threads]
    const Guide *guide;      // the links of the guided head; NULL: none
    const Teacher *teacher;  // NULL: none

    const Packed *source, *target;
    bool training;
    long long update;
    MicroBatchPlan plan;
    double *nll;        // [plan.count] of each micro-batch; 0 for those of other ranks
    double *objective;  // [plan.count] behind nll
    size_t nll_size;    // numbers allocated

    pthread_mutex_t lock;
    pthread_cond_t finished;
    int *taken;  // [A] micro-batches begun for each accumulator
    int *done;   // [A] micro-batches finished
} Passes;

/* Borrows its arguments. Call passes_free even if this fails. */
bool passes_create(Passes *passes, const Transformer *model, const TrainingConfig *config,
                   Gradients *gradients, Workers *workers, Error *error);
void passes_free(Passes *passes);

/* For update 1, 2, …: forward and backward with dropout, over this rank's micro-batches; the
 * accumulators (=) the gradients of the objective's mean over the target tokens. For update 0:
 * forward alone, without dropout, over all micro-batches. Borrows the sentences until the next
 * call. */
bool passes_run(Passes *passes, long long update, const Packed *source, const Packed *target,
                Error *error);

/* The sum over the micro-batches, in their order. */
Loss passes_loss(const Passes *passes);

/* sentence [most] (=) the first sentences of the first micro-batch whose loss is not finite, or
 * of the update if there is none; returns their number. */
int passes_suspects(const Passes *passes, int *sentence, int most);

/* Accumulators 0 .. passes_used-1 have gradients. */
int passes_used(const Passes *passes);

/* How often a sentence goes through the network: 2 with R-Drop, else 1. */
int passes_copies(const Passes *passes);

/* How many of `threads` threads can work at the same time, on all ranks together. */
int passes_at_work(const Passes *passes, int threads);

/* *bytes (=) of activations once every thread that can work has had the largest micro-batch of
 * an update of these sentences. */
bool passes_activations(Passes *passes, size_t *bytes, const Packed *source,
                        const Packed *target, Error *error);
