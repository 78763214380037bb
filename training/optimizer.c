/* optimizer.c -- the learning rate's schedule, and an update of the rank's own part of the weights:
 * Adam (Kingma and Ba 2015, algorithm 1), or Muon (muon.c), which needs whole matrices, between
 * decoupled weight decay and a moving average.
 *
 *   w = w - rate · decay · w                                  of matrices
 *   m = β₁ m + (1-β₁) g            m̂ = m / (1 - β₁ᵘ)        bias correction,
 *   v = β₂ v + (1-β₂) g²           v̂ = v / (1 - β₂ᵘ)        u = 1, 2, …: the update's number
 *   w = w - rate · m̂ / (√v̂ + ε)
 *   ema = d · ema + (1-d) · w,     d = min(X, (1+u) / (10+u))
 *
 * README.md explains each, and has the sources. Weights whose gradient is always zero (the
 * embedding of <pad>, the gaps between tensors) keep their bits. */
#include "training/optimizer.h"
#include "base/block.h"

/* w: updates of warm-up; x goes from 0 to 1 after them. */
double schedule_rate(const TrainingConfig *c, long long update)
{
    double u = (double)update, w = c->warmup, peak = c->learning_rate;
    if (u < w) return peak * u / w;
    double x = c->max_updates > c->warmup ? fmin(1, (u - w) / (c->max_updates - w)) : 0;
    switch ((Schedule)c->schedule) {
    case SCHEDULE_INVERSE_SQRT: return peak * sqrt(fmax(w, 1) / u);
    case SCHEDULE_COSINE: return peak * (1 + cos(3.141592653589793 * x)) / 2;
    case SCHEDULE_LINEAR: return peak * (1 - x);
    case SCHEDULE_CONSTANT: break;
    }
    return peak;
}

void adam_update(real *w, real *m, real *v, const real *g, size_t count,
                 const TrainingConfig *c, long long update, double rate, double scale)
{
    double u = (double)update;
    real beta1 = (real)c->beta1, one_minus_beta1 = (real)(1 - c->beta1);
    real beta2 = (real)c->beta2, one_minus_beta2 = (real)(1 - c->beta2);
    real rate_correction = (real)(rate / (1 - pow(c->beta1, u)));   // rate · m̂ / m
    real root_correction = (real)(1 / sqrt(1 - pow(c->beta2, u)));  // √v̂ / √v
    real epsilon = (real)c->epsilon;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        real gradient = (real)scale * g[i];
        m[i] = beta1 * m[i] + one_minus_beta1 * gradient;
        v[i] = beta2 * v[i] + one_minus_beta2 * gradient * gradient;
        real rate_m_hat = rate_correction * m[i];              // rate · m̂
        real root_v_hat = (real)sqrt(v[i]) * root_correction;  // √v̂
        w[i] -= rate_m_hat / (root_v_hat + epsilon);
    }
}

/* Muon is for the layers' matrices; embeddings, which include the output layer, biases and gains
 * stay with Adam. */
static bool by_muon(const Optimizer *o, const Tensor *t)
{
    return o->config->optimizer == OPTIMIZER_MUON && !t->frozen && t->kind == TENSOR_MATRIX;
}

bool optimizer_create(Optimizer *o, Transformer *model, Gradients *gradients,
                      const TrainingConfig *config, int threads, Error *error)
{
    *o = (Optimizer){.config = config, .gradients = gradients, .model = model};
    for (int i = 0; i < model->params.count; i++) {
        const Tensor *t = &model->params.tensor[i];
        size_t size = by_muon(o, t) ? muon_workspace(t->shape[0], t->shape[1]) : 0;
        if (size > o->workspace_size) o->workspace_size = size;
    }
    const Gradients *g = gradients;
    size_t size =
        sizeof(real) * (distributed.rank ? g->own.end - g->own.begin : g->params->size);
    size_t workspace = sizeof(real) * o->workspace_size * (size_t)threads;
    if (!(o->m = block_zeros(size, error)) || !(o->v = block_zeros(size, error)) ||
        (config->ema > 0 && !(o->ema = block_zeros(size, error))) ||
        (workspace && !(o->workspace = block_zeros(workspace, error))))
        return false;
    CheckpointBlock *block = o->block;
    if (o->ema) *block++ = (CheckpointBlock){CHECKPOINT_AVERAGE, CHECKPOINT_WEIGHTS, o->ema};
    *block++ = config->optimizer == OPTIMIZER_ADAM
                   ? (CheckpointBlock){CHECKPOINT_ADAM_M, CHECKPOINT_MOMENTUM, o->m}
                   : (CheckpointBlock){CHECKPOINT_MOMENTUM, CHECKPOINT_ADAM_M, o->m};
    *block = (CheckpointBlock){CHECKPOINT_ADAM_V, CHECKPOINT_ADAM_V, o->v};
    return true;
}

void optimizer_free(Optimizer *o)
{
    free(o->m);
    free(o->v);
    free(o->ema);
    free(o->workspace);
    *o = (Optimizer){0};
}

/* Numbers of a tensor, which are of the own part. */
typedef struct Part {
    real *w, *g, *m, *v, *ema;
    size_t count;
} Part;

static Part part_of(const Optimizer *o, const Tensor *t, Range of)
{
    Range r = range_common(range_of(t), of);
    if (t->frozen || r.begin >= r.end) return (Part){0};
    size_t at = r.begin - o->gradients->own.begin;
    return (Part){.w = o->model->block + r.begin,
                  .g = gradients_from(o->gradients, r.begin),
                  .m = o->m + at,
                  .v = o->v + at,
                  .ema = o->ema ? o->ema + at : NULL,
                  .count = r.end - r.begin};
}

/* Decay, the step, and the average. X: Muon's direction of the whole tensor; NULL: it is zero. */
static void update_part(const Optimizer *o, const Tensor *t, const Part *p, const real *X)
{
    real rest = 1 - o->decay_share, share = o->ema_share, *w = p->w, *ema = p->ema;
    if (o->decay_share > 0 && t->kind != TENSOR_VECTOR)
#pragma omp simd
        for (size_t i = 0; i < p->count; i++) w[i] *= rest;
    if (!by_muon(o, t))
        adam_update(w, p->m, p->v, p->g, p->count, o->config, o->update, o->rate, o->scale);
    else if (X)
        muon_update(w, X + (w - (o->model->block + t->offset)), p->count, o->rate, t->shape[0],
                    t->shape[1]);
    if (ema)
#pragma omp simd
        for (size_t i = 0; i < p->count; i++) ema[i] += share * (w[i] - ema[i]);
}

/* All of Adam, and Muon's momentum. */
static void update_slice(void *context, size_t begin, size_t count)
{
    const Optimizer *o = context;
    const Params *params = &o->model->params;
    for (const Tensor *t = params->tensor; t < params->tensor + params->count; t++) {
        Part p = part_of(o, t, (Range){begin, begin + count});
        if (p.count && by_muon(o, t)) muon_momentum(p.g, p.m, p.count, o->scale);
        else if (p.count) update_part(o, t, &p, NULL);
    }
}

/* The rest of Muon: orthogonalises the whole matrix, and updates the own part of it. */
static bool update_matrix(void *context, size_t i, int worker, Error *error)
{
    (void)error;
    const Optimizer *o = context;
    const Tensor *t = &o->model->params.tensor[i];
    Part p = part_of(o, t, o->gradients->own);
    if (p.count && by_muon(o, t))
        update_part(o, t, &p,
                    muon_orthogonal(o->workspace + (size_t)worker * o->workspace_size,
                                    gradients_from(o->gradients, t->offset), t->shape[0],
                                    t->shape[1],
                                    o->config->precision == PRECISION_BF16 ? BF16 : SET));
    return true;
}

bool optimizer_update(Optimizer *o, long long update, double rate, double scale,
                      Workers *workers, Error *error)
{
    const TrainingConfig *c = o->config;
    Gradients *g = o->gradients;
    double u = (double)update;
    o->update = update;
    o->rate = rate;
    o->scale = scale;
    o->decay_share = (real)(rate * c->weight_decay);
    o->ema_share = (real)(1 - fmin(c->ema, (1 + u) / (10 + u)));
    slices_run(workers, g->own.begin, g->own.end, update_slice, o);
    if (!o->workspace) return true;
    return gradients_allgather(g, error) &&
           workers_each(workers, (size_t)o->model->params.count, update_matrix, o, error);
}

bool optimizer_send(const Optimizer *o, DistributedSend *send, Error *error)
{
    bool good = true;
    for (const CheckpointBlock *block = o->block; good && block->at; block++)
        good = send(block->at, o->gradients->part, error);
    return good;
}
