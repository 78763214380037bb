/* passes.h -- the network's passes over an update's sentences, on all threads of this rank.
 *
 * The sentences are cut into micro-batches (cut.h). Micro-batch k adds its gradients to
 * accumulator k mod A, after micro-batch k - A has. So each number is the sum of the same terms
 * in the same order, whatever the number of threads. At most A threads can be at work at a time;
 * but all of them share an accumulator that is the only one, stage by stage of the network
 * (model/turns.h).
 *
 * With R-Drop (model/rdrop.h) a micro-batch has half the sentences, each twice; nll and objective
 * are means over both copies. */
#ifndef TRAINING_PASSES_H
#define TRAINING_PASSES_H

#include <pthread.h>

#include "base/workers.h"
#include "model/turns.h"
#include "training/config.h"
#include "training/gradients.h"
#include "training/microbatch.h"

/* What is a thread's own. */
typedef struct Worker {
    MicroBatch batch;
    Error error;
    bool failed;
} Worker;

typedef struct Passes {
    const Transformer *model;
    const TrainingConfig *config;
    Gradients *gradients;
    Workers *workers;
    Worker *worker;  // [threads]

    const Packed *source, *target;
    bool training;
    long long update;
    Cut cut;
    double *nll;        // [cut.count] of a micro-batch, 0 for those of other ranks
    double *objective;  // [cut.count] behind nll
    size_t nll_room;    // numbers

    Turns turns;  // at accumulator 0, if it is shared
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int *taken;  // [A] micro-batches that were taken for each accumulator
    int *done;   // [A] and those that it holds
} Passes;

/* Borrows all. passes_free what was created in part, too. */
bool passes_create(Passes *passes, const Transformer *model, const TrainingConfig *config,
                   Gradients *gradients, Workers *workers, Error *error);
void passes_free(Passes *passes);

/* Forward and backward with dropout: the accumulators (=) the gradients of the objective's mean
 * over the target tokens, of this rank's micro-batches. The sentences are borrowed until the next
 * call, here and below. */
bool passes_train(Passes *passes, long long update, const Packed *source, const Packed *target,
                  Error *error);

/* Forward alone, of all micro-batches, without dropout. */
bool passes_score(Passes *passes, const Packed *source, const Packed *target, Error *error);

/* The sum over the micro-batches, in their order. */
Loss passes_loss(const Passes *passes);

/* sentence [most] (=) the first of the first micro-batch whose loss is not finite, or of all if
 * there is none; returns how many. */
int passes_suspects(const Passes *passes, int *sentence, int most);

/* Accumulators 0 .. passes_used-1 have the gradients of some micro-batch. */
int passes_used(const Passes *passes);

/* Whether sentences go through the network twice, for R-Drop. */
bool passes_are_twice(const Passes *passes);

/* How many of `threads` can be at work at a time on so many accumulators. */
int passes_at_work(const Passes *passes, int threads, int accumulators);

/* Bytes of activations: of all workers so far; *bytes (=) once every thread that can be at work
 * has had the largest micro-batch of an update of these sentences. */
size_t passes_memory(const Passes *passes);
bool passes_activations(Passes *passes, size_t *bytes, const Packed *source,
                        const Packed *target, Error *error);

#endif
