/* optimizer.c -- weight decay, Adam and a moving average, slice by slice; see optimizer.h.
 *
 *   w    weight decay of matrices, then Adam (adam.c)
 *   ema  = d · ema + (1-d) · w,    d = min(X, (1+u) / (10+u)),    u = 1, 2, …
 *
 * The average of Polyak and Juditsky 1992, "Acceleration of Stochastic Approximation by
 * Averaging", in its exponential form. The second term of d is that of
 * tf.train.ExponentialMovingAverage: without it the initial weights would stay in the average
 * for about 1/(1-X) updates. */
#include "training/optimizer.h"

#include <math.h>
#include <stdlib.h>

bool optimizer_create(Optimizer *o, Transformer *model, const Gradients *gradients,
                      const TrainingConfig *config, Error *error)
{
    *o = (Optimizer){.config = config, .gradients = gradients, .model = model};
    const Gradients *g = gradients;
    size_t size = sizeof(real) * (distributed_rank() ? g->own.end - g->own.begin : g->size);
    return (o->m = block_resident(size, error)) && (o->v = block_resident(size, error)) &&
           (config->ema == 0 || (o->ema = block_resident(size, error)));
}

void optimizer_free(Optimizer *o)
{
    free(o->m);
    free(o->v);
    free(o->ema);
    *o = (Optimizer){0};
}

/* Weight decay is for matrices, not for biases (initialised to 0) and gains (initialised to
 * 1). */
static void decay_matrices(const Optimizer *o, Range slice)
{
    const Params *params = &o->model->params;
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        Range r = range_common(range_of(tensor), slice);
        if (r.begin < r.end && tensor->init != INIT_ZERO && tensor->init != INIT_ONE)
            decay_update(o->model->block + r.begin, r.end - r.begin, o->decay_share);
    }
}

static void update_slice(void *context, size_t begin, size_t count)
{
    Optimizer *o = context;
    for (Range r = {begin, begin}; range_trained(&r, begin + count, &o->model->params);) {
        size_t at = r.begin - o->gradients->own.begin, n = r.end - r.begin;
        real *w = o->model->block + r.begin;
        if (o->decay_share > 0) decay_matrices(o, r);
        adam_update(w, o->m + at, o->v + at, gradients_from(o->gradients, r.begin), n,
                    &o->step);
        if (o->ema) ema_update(o->ema + at, w, n, o->ema_share);
    }
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
    slices_run(workers, g->own.begin, g->own.end, update_slice, o);
}

bool optimizer_send(const Optimizer *o, DistributedSend *send, Error *error)
{
    const size_t *part = o->gradients->part;
    return send(o->m, part, error) && send(o->v, part, error) &&
           (!o->ema || send(o->ema, part, error));
}
