/* trainer.c -- micro-batches in, new weights out; see trainer.h.
 *
 *   (1)  micro-batches: forward, loss, backward; each adds to its accumulator (passes.h)
 *   (2)  slices of the parameter block: sum the accumulators, square for the norm (gradients.h)
 *   (3)  slices again: clip, Adam, the moving average (optimizer.h)
 *   (4)  the new weights, from their owners to all ranks
 *
 * All threads of all ranks meet between these, since the norm is needed before the first weight
 * may change. */
#include "training/trainer.h"

#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "training/distributed.h"
#include "training/gradients.h"
#include "training/optimizer.h"
#include "training/passes.h"
#include "training/schedule.h"

struct Trainer {
    Transformer *model;
    const TrainingConfig *config;
    Workers *workers;
    Gradients gradients;
    Passes passes;
    Optimizer optimizer;
};

int trainer_first_accumulators(int wanted)
{
    int ranks = distributed_ranks(), processors = at_most(workers_processors(), 8);
    if (wanted == 0) wanted = processors < 2 ? 2 : processors;
    else if (wanted > 1) return wanted;
    return wanted > ranks ? wanted : ranks;
}

Trainer *trainer_create(Transformer *model, const TrainingConfig *config, Workers *workers,
                        Error *error)
{
    Trainer *t = calloc(1, sizeof *t);
    if (!t) {
        error_set(error, "not enough memory to train");
        return NULL;
    }
    t->model = model;
    t->config = config;
    t->workers = workers;
    int accumulators = config->accumulators;
    if (!accumulators) accumulators = trainer_first_accumulators(0);
    Gradients *g = &t->gradients;
    bool good = gradients_create(g, model, accumulators, error) &&
                passes_create(&t->passes, model, config, g, workers, error) &&
                optimizer_create(&t->optimizer, model, g, config, error);
    if (good) return t;
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

real *trainer_m(Trainer *t)
{
    return t->optimizer.m;
}

real *trainer_v(Trainer *t)
{
    return t->optimizer.v;
}

real *trainer_ema(Trainer *t)
{
    return t->optimizer.ema;
}

bool trainer_gather(Trainer *t, Error *error)
{
    return optimizer_gather(&t->optimizer, error);
}

bool trainer_scatter(Trainer *t, Error *error)
{
    return optimizer_scatter(&t->optimizer, error);
}

int trainer_at_work(const Trainer *t, int threads)
{
    return passes_at_work(&t->passes, threads, t->gradients.reduction.accumulators);
}

size_t trainer_memory(const Trainer *t)
{
    return t->model->params.size * sizeof(real) + gradients_memory(&t->gradients) +
           passes_memory(&t->passes) + optimizer_memory(&t->optimizer);
}

/* Says which tensor of the gradient is the first that holds NaN or infinity, and which
 * micro-batch was the first to lose its numbers. */
static bool not_finite(const Trainer *t, const Loss *loss, UpdateStats *stats, Error *error)
{
    const Params *params = &t->model->params;
    int tensor;
    if (!gradients_not_finite(&t->gradients, &tensor, params, error)) return false;
    *stats = (UpdateStats){.not_finite = true};
    stats->suspects = passes_suspects(&t->passes, stats->suspect, SUSPECTS);
    char text[ADVICE_TEXT];
    return error_set(error, "update %lld: the gradient%s%s is not finite (loss %g); %s",
                     t->passes.update, tensor < params->count ? " of " : "'s norm",
                     tensor < params->count ? params->tensor[tensor].name : "",
                     loss->objective / (double)loss->tokens, training_advice(text, t->config));
}

bool trainer_update(Trainer *t, long long update, const Packed *source, const Packed *target,
                    UpdateStats *stats, Error *error)
{
    const TrainingConfig *c = t->config;
    Passes *p = &t->passes;
    *stats = (UpdateStats){0};
    if (!distributed_agree(passes_train(p, update, source, target, error), error))
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
    bool clip = c->clip_norm > 0 && norm > c->clip_norm;
    optimizer_update(&t->optimizer, update, rate, clip ? c->clip_norm / norm : 1,
                     t->workers);                                               // (3)
    if (!distributed_allgather(t->model->block, g->part, error)) return false;  // (4)

    *stats = (UpdateStats){.loss = loss,
                           .gradient_norm = norm,
                           .learning_rate = rate,
                           .flops = transformer_flops(&t->model->config, source, target) *
                                    passes_copies(p),
                           .tokens = (long long)source->rows + target->rows};
    return true;
}

bool trainer_gradient_norm(Trainer *t, double *norm, const Tensor *tensor, Error *error)
{
    return gradients_tensor_norm(&t->gradients, norm, tensor, error);
}

bool trainer_evaluate(Trainer *t, const Packed *source, const Packed *target, Loss *loss,
                      Error *error)
{
    if (!passes_score(&t->passes, source, target, error)) return false;
    *loss = passes_loss(&t->passes);
    return true;
}

bool trainer_activations(Trainer *t, size_t *bytes, const Packed *source, const Packed *target,
                         Error *error)
{
    return passes_activations(&t->passes, bytes, source, target, error);
}
