/* optimizer.c -- weight decay, Adam and a moving average, slice by slice; see optimizer.h.
 *
 *   w    by adam.c: decay of matrices, then Adam
 *   ema  = d · ema + (1-d) · w,    d = min(X, (1+u) / (10+u)),    u = 1, 2, …
 *
 * The average of Polyak and Juditsky 1992 (Acceleration of Stochastic Approximation by
 * Averaging) in its exponential form. Without the second term of d, the initial weights would
 * stay in the average for some 1/(1-X) updates; it is that of
 * tf.train.ExponentialMovingAverage. */
#include "training/optimizer.h"

#include <math.h>
#include <stdlib.h>

#include "training/distributed.h"

/* A block of this rank; of one number, if it owns nothing of so small a model. */
static Params block_of(const Gradients *g)
{
    size_t own = g->own_end - g->own;
    return (Params){.size = distributed_rank() == 0 ? g->size : own ? own : 1};
}

bool optimizer_create(Optimizer *o, Transformer *model, const Gradients *gradients,
                      const TrainingConfig *config, Error *error)
{
    *o = (Optimizer){.config = config, .gradients = gradients, .model = model};
    Params block = block_of(gradients);
    return (o->m = params_block(&block, error)) && (o->v = params_block(&block, error)) &&
           (config->ema == 0 || (o->ema = params_block(&block, error)));
}

void optimizer_free(Optimizer *o)
{
    free(o->m);
    free(o->v);
    free(o->ema);
    *o = (Optimizer){0};
}

/* Weight decay is for matrices: a bias or a gain, which starts at 0 or 1, has no other job than
 * to have its size. */
static void decay_matrices(const Optimizer *o, size_t begin, size_t end)
{
    const Params *params = &o->model->params;
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        size_t first = tensor->offset, last = first + tensor->count;
        if (tensor->init == INIT_ZERO || tensor->init == INIT_ONE) continue;
        if (first < begin) first = begin;
        if (last > end) last = end;
        if (first < last) decay_update(o->model->block + first, last - first, o->decay_share);
    }
}

static void update_slice(void *context, size_t begin, size_t count)
{
    Optimizer *o = context;
    size_t at = begin - o->gradients->own;
    real *w = o->model->block + begin;
    if (o->decay_share > 0) decay_matrices(o, begin, begin + count);
    adam_update(w, o->m + at, o->v + at, gradients_from(o->gradients, begin), count, &o->step);
    if (o->ema) ema_update(o->ema + at, w, count, o->ema_share);
}

void optimizer_update(Optimizer *o, long long update, double rate, double scale,
                      Workers *workers)
{
    const TrainingConfig *c = o->config;
    const Gradients *g = o->gradients;
    double u = (double)update;
    o->step = (AdamStep){rate, c->beta1, c->beta2, c->epsilon, update, scale};
    o->decay_share = (real)(rate * c->weight_decay);
    o->ema_share = (real)(1 - fmin(c->ema, (1 + u) / (10 + u)));
    slices_run(workers, g->own, g->own_end, update_slice, o);
}

bool optimizer_gather(const Optimizer *o, Error *error)
{
    const size_t *part = o->gradients->part;
    return distributed_gather(o->m, part, error) && distributed_gather(o->v, part, error) &&
           (!o->ema || distributed_gather(o->ema, part, error));
}

bool optimizer_scatter(const Optimizer *o, Error *error)
{
    const size_t *part = o->gradients->part;
    return distributed_scatter(o->m, part, error) && distributed_scatter(o->v, part, error) &&
           (!o->ema || distributed_scatter(o->ema, part, error));
}

size_t optimizer_memory(const Optimizer *o)
{
    return (o->ema ? 3 : 2) * block_of(o->gradients).size * sizeof(real);
}
