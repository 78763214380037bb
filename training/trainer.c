/* trainer.c -- one update of the weights; see trainer.h.
 *
 *   (1)  micro-batches: forward, loss, backward; each adds to its accumulator (passes.h)
 *   (2)  slices of the parameter block: sum the accumulators, and their squares (gradients.h)
 *   (3)  slices again: clip, decay, Adam or Muon, the moving average (optimizer.h)
 *   (4)  the new weights, from their owners to all ranks
 *
 * All threads of all ranks wait for each other between these: no weight may change before the
 * gradient's norm is known.
 *
 * (3) begins with gradient clipping by the global norm (Pascanu et al. 2013, arXiv 1211.5063,
 * algorithm 1): g = g · clip / ‖g‖ if ‖g‖ > clip, where ‖g‖ is over all tensors together. */
#include "training/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/real.h"
#include "training/distributed.h"

int trainer_first_accumulators(int wanted)
{
    int ranks = distributed_ranks(), processors = at_most(workers_processors(), 8);
    int least = ranks > 2 ? ranks : 2;
    return wanted ? wanted : processors > least ? processors : least;
}

Trainer *trainer_create(Transformer *model, const TrainingConfig *config, Workers *workers,
                        Error *error)
{
    Trainer *t = calloc(1, sizeof *t);
    if (!t) return error_memory(error, "to train"), NULL;
    t->model = model;
    t->config = config;
    t->workers = workers;
    int accumulators = trainer_first_accumulators(config->accumulators);
    Gradients *g = &t->gradients;
    if (gradients_create(g, model, accumulators, error) &&
        passes_create(&t->passes, model, config, g, workers, error) &&
        optimizer_create(&t->optimizer, model, g, config, workers_count(workers), error))
        return t;
    trainer_free(t);
    return NULL;
}

void trainer_free(Trainer *t)
{
    if (!t) return;
    passes_free(&t->passes);
    gradients_free(&t->gradients);
    optimizer_free(&t->optimizer);
    free(t);
}

/* Names the first tensor whose gradient is not finite, and the sentences of the first
 * micro-batch whose loss is not. */
static bool not_finite(const Trainer *t, const Loss *loss, UpdateStats *stats, Error *error)
{
    const Params *params = &t->model->params;
    int tensor;
    if (!gradients_not_finite(&t->gradients, &tensor, params, error)) return false;
    *stats = (UpdateStats){.not_finite = true};
    stats->suspects = passes_suspects(&t->passes, stats->suspect, SUSPECTS);
    char text[ADVICE_TEXT], value[32] = "nor is the loss";
    double mean = loss->objective / (double)loss->tokens;
    if (isfinite(mean)) snprintf(value, sizeof value, "loss %g", mean);
    return error_set(error, "update %lld: the gradient%s%s is not finite (%s); %s",
                     t->passes.update, tensor < params->count ? " of " : "'s norm",
                     tensor < params->count ? params->tensor[tensor].name : "", value,
                     training_advice(text, t->config));
}

bool trainer_update(Trainer *t, long long update, const Packed *source, const Packed *target,
                    UpdateStats *stats, Error *error)
{
    const TrainingConfig *c = t->config;
    Passes *p = &t->passes;
    *stats = (UpdateStats){0};
    if (!distributed_agree(passes_run(p, update, source, target, error), error))
        return false;  // (1)

    double norm;
    Gradients *g = &t->gradients;
    if (!gradients_sum(g, &norm, passes_used(p), t->workers, error) ||  // (2)
        !distributed_sum(p->nll, 2 * (size_t)p->plan.count, error))
        return false;
    Loss loss = passes_loss(p);
    if (!isfinite(norm) || !isfinite(loss.objective)) return not_finite(t, &loss, stats, error);

    double rate = schedule_rate((Schedule)c->schedule, c->learning_rate, update, c->warmup,
                                c->max_updates);
    double clip = c->clip_norm > 0 && norm > c->clip_norm ? c->clip_norm / norm : 1;
    if (!optimizer_update(&t->optimizer, update, rate, clip, t->workers, error) ||  // (3)
        !distributed_allgather(t->model->block, g->part, error))                    // (4)
        return false;

    *stats = (UpdateStats){.loss = loss,
                           .gradient_norm = norm,
                           .learning_rate = rate,
                           .flops = transformer_flops(&t->model->config, source, target) *
                                    passes_copies(p),
                           .tokens = (long long)source->rows + target->rows};
    return true;
}

bool trainer_evaluate(Trainer *t, const Packed *source, const Packed *target, Loss *loss,
                      Error *error)
{
    if (!passes_run(&t->passes, 0, source, target, error)) return false;
    *loss = passes_loss(&t->passes);
    return true;
}
