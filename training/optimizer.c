/* optimizer.c -- Adam (Kingma and Ba 2015, algorithm 1) or Muon (muon.c), decoupled weight decay
 * and a moving average; see optimizer.h.
 *
 *   w = w - rate · decay · w                         decoupled weight decay of matrices
 *
 *   m = β₁ m + (1-β₁) g            m̂ = m / (1 - β₁ᵘ)        bias correction,
 *   v = β₂ v + (1-β₂) g²           v̂ = v / (1 - β₂ᵘ)        u = 1, 2, …: the update's number
 *   w = w - rate · m̂ / (√v̂ + ε)
 *
 *   ema = d · ema + (1-d) · w,     d = min(X, (1+u) / (10+u))
 *
 * The rate is that of the schedule:
 *
 *   linear warm-up             peak · u / w                  for updates u <= w
 *   inverse square root decay  peak · √(w / u)               Vaswani et al. 2017, §5.3
 *   cosine decay               peak · (1 + cos(π x)) / 2     Loshchilov and Hutter 2017
 *   linear decay               peak · (1 - x)
 *   constant                   peak
 *
 * with x = (u - w) / (last - w), from 0 to 1. In the inverse square root, w is at least 1.
 *
 * The decay is that of AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2) with
 * the schedule over both terms, as in PyTorch: their λ is rate · decay here. It does not enter
 * m and v. Weights whose gradient is always zero (the embedding of <pad>, the gaps between
 * tensors) keep their bits.
 *
 * The average of Polyak and Juditsky 1992, "Acceleration of Stochastic Approximation by
 * Averaging", in its exponential form. The second term of d is that of
 * tf.train.ExponentialMovingAverage: without it the initial weights would stay in the average
 * for about 1/(1-X) updates. */
#include "training/optimizer.h"
#include "base/block.h"

#include <math.h>
#include <stdlib.h>

double schedule_rate(Schedule schedule, double peak, long long update, int warmup,
                     long long last)
{
    double u = (double)update, w = warmup;
    if (u < w) return peak * u / w;
    double x = last > warmup ? fmin(1, (u - w) / ((double)last - w)) : 0;
    switch (schedule) {
    case SCHEDULE_INVERSE_SQRT: return peak * sqrt(fmax(w, 1) / u);
    case SCHEDULE_COSINE: return peak * (1 + cos(3.141592653589793 * x)) / 2;
    case SCHEDULE_LINEAR: return peak * (1 - x);
    case SCHEDULE_CONSTANT: break;
    }
    return peak;
}

void adam_update(real *w, real *m, real *v, const real *g, size_t count, const AdamStep *step)
{
    double u = (double)step->update;
    real beta1 = (real)step->beta1, one_minus_beta1 = (real)(1 - step->beta1);
    real beta2 = (real)step->beta2, one_minus_beta2 = (real)(1 - step->beta2);
    real rate_correction = (real)(step->rate / (1 - pow(step->beta1, u)));  // rate · m̂ / m
    real root_correction = (real)(1 / sqrt(1 - pow(step->beta2, u)));       // √v̂ / √v
    real epsilon = (real)step->epsilon, scale = (real)step->gradient_scale;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        real gradient = scale * g[i];
        m[i] = beta1 * m[i] + one_minus_beta1 * gradient;
        v[i] = beta2 * v[i] + one_minus_beta2 * gradient * gradient;
        real rate_m_hat = rate_correction * m[i];              // rate · m̂
        real root_v_hat = (real)sqrt(v[i]) * root_correction;  // √v̂
        w[i] -= rate_m_hat / (root_v_hat + epsilon);
    }
}

void decay_update(real *w, size_t count, real share)
{
    real rest = 1 - share;
#pragma omp simd
    for (size_t i = 0; i < count; i++) w[i] *= rest;
}

void ema_update(real *ema, const real *w, size_t count, real share)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) ema[i] += share * (w[i] - ema[i]);
}

/* The embeddings, which include the output layer, stay with Adam. */
static bool by_muon(const Optimizer *o, const Tensor *tensor)
{
    return o->config->optimizer == OPTIMIZER_MUON &&
           (tensor->init == INIT_XAVIER || tensor->init == INIT_ATTENTION ||
            tensor->init == INIT_IDENTITY);
}

bool optimizer_create(Optimizer *o, Transformer *model, const Gradients *gradients,
                      const TrainingConfig *config, int threads, Error *error)
{
    *o = (Optimizer){.config = config, .gradients = gradients, .model = model};
    for (int i = 0; i < model->params.count; i++) {
        const Tensor *t = &model->params.tensor[i];
        size_t size = by_muon(o, t) ? muon_workspace(t->shape[0], t->shape[1]) : 0;
        if (size > o->workspace_size) o->workspace_size = size;
    }
    if (o->workspace_size && distributed_ranks() > 1)
        return error_set(error,
                         "`optimizer` muon needs whole matrices: train with one process, "
                         "or with adam");
    const Gradients *g = gradients;
    size_t size = sizeof(real) * (distributed_rank() ? g->own.end - g->own.begin : g->size);
    return (o->m = block_resident(size, error)) && (o->v = block_resident(size, error)) &&
           (config->ema == 0 || (o->ema = block_resident(size, error))) &&
           (o->workspace_size == 0 ||
            (o->workspace =
                 block_resident(sizeof(real) * o->workspace_size * (size_t)threads, error)));
}

void optimizer_free(Optimizer *o)
{
    free(o->m);
    free(o->v);
    free(o->ema);
    free(o->workspace);
    *o = (Optimizer){0};
}

/* Updates a range of a tensor; with Muon, which needs `workspace`, all of it. Weight decay is
 * for matrices, not for biases (initialised to 0), gains (initialised to 1) and the scales of
 * scores. */
static void update_range(const Optimizer *o, const Tensor *tensor, Range r, real *workspace)
{
    size_t at = r.begin - o->gradients->own.begin, n = r.end - r.begin;
    const real *g = gradients_from(o->gradients, r.begin);
    real *w = o->model->block + r.begin;
    if (o->decay_share > 0 && tensor->init != INIT_ZERO && tensor->init != INIT_ONE &&
        tensor->init != INIT_SCORE)
        decay_update(w, n, o->decay_share);
    if (workspace)
        muon_update(w, o->m + at, g, tensor->layout, tensor->shape[0], tensor->shape[1],
                    o->step.rate, o->step.gradient_scale,
                    o->config->precision == PRECISION_BF16 ? BF16 : SET, workspace);
    else adam_update(w, o->m + at, o->v + at, g, n, &o->step);
    if (o->ema) ema_update(o->ema + at, w, n, o->ema_share);
}

static void update_slice(void *context, size_t begin, size_t count)
{
    const Optimizer *o = context;
    const Params *params = &o->model->params;
    for (const Tensor *t = params->tensor; t < params->tensor + params->count; t++) {
        Range r = range_common(range_of(t), (Range){begin, begin + count});
        if (!t->frozen && r.begin < r.end && !by_muon(o, t)) update_range(o, t, r, NULL);
    }
}

static bool update_matrix(void *context, size_t i, int worker, Error *error)
{
    (void)error;
    const Optimizer *o = context;
    const Tensor *t = &o->model->params.tensor[i];
    real *workspace = o->workspace + (size_t)worker * o->workspace_size;
    if (!t->frozen && by_muon(o, t)) update_range(o, t, range_of(t), workspace);
    return true;
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
    if (o->workspace)
        workers_each(workers, (size_t)o->model->params.count, update_matrix, o, NULL);
    slices_run(workers, g->own.begin, g->own.end, update_slice, o);
}

bool optimizer_send(const Optimizer *o, DistributedSend *send, Error *error)
{
    const size_t *part = o->gradients->part;
    return send(o->m, part, error) && send(o->v, part, error) &&
           (!o->ema || send(o->ema, part, error));
}
