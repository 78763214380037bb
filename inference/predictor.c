/* predictor.c -- the scores of one model, or the mean of several models' probabilities:
 *
 *   z_c = ln Σ_m e^(z_mc - n_m),   n_m = ln Σ_c e^(z_mc),      ln p(c) = z_c - ln M
 *
 * Two terms a ≥ b are added as a + ln(1 + e^(b - a)), so that ln p is right even if every
 * model's probability is too small for a float (e^-90). Why this mean: ensemble.h. */
#include "inference/predictor.h"

#include <assert.h>
#include <math.h>

#include "kernels/vecexp.h"

void predictor_layout(Predictor *predictor, Arena *arena, const SearchBatch *batch)
{
    int S = batch->source.sentences, each = search_rows(batch->config), steps = 0, capacity = 0;
    for (int s = 0; s < S; s++) {
        if (batch->task[s].limit > steps) steps = batch->task[s].limit;
        capacity += batch->task[s].limit * each;
    }
    predictor->batch = batch;
    predictor->rows = 0;
    predictor->written = ARENA_TAKE(arena, int, (size_t)steps);
    if (batch->config->sample)
        sampling_layout(&predictor->sampling, arena, ensemble_tokens(batch->ensemble));
    for (int m = 0; m < batch->ensemble->count; m++) {
        const Transformer *model = batch->ensemble->model[m];
        predictor->logits[m] = logits_layout(arena, S * each, model->config.vocab);
        cache_layout(&predictor->cache[m], arena, model, &batch->source, S * each, steps,
                     capacity);
    }
}

void predictor_encode(Predictor *predictor)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    for (int m = 0; m < ensemble->count; m++)
        cache_encode(&predictor->cache[m], ensemble->model[m]);
}

int predictor_step(Predictor *predictor, const Prefix *prefix, int count)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    for (int m = 0; m < ensemble->count; m++)
        predictor->X[m] = cache_step(&predictor->cache[m], ensemble->model[m], prefix, count);
    predictor->rows = count;
    return predictor->cache->nodes - count;
}

static real *model_row(Predictor *predictor, int m, int r)
{
    const Transformer *model = predictor->batch->ensemble->model[m];
    return logits_row(predictor->logits[m], r, predictor->X[m], &model->weights,
                      predictor->rows, model->config.vocab, model->config.d_model);
}

/* ln(1 + x) for x in [0, 1], without a branch, to 1e-7: with s = x / (2 + x) <= 1/3 it is
 * 2 artanh s = 2 (s + s³/3 + s⁵/5 + …). */
static inline real log_one_plus(real x)
{
    real s = x / (2 + x), q = s * s, sum = 0;
    for (int k = 15; k > 0; k -= 2) sum = sum * q + (real)1 / (real)k;
    return 2 * s * sum;
}

/* sum [C] (=) ln(e^sum + e^(z - n)) */
static void add_model(real *sum, const real *z, real n, int C)
{
#pragma omp simd
    for (int c = 0; c < C; c++) {
        real x = z[c] - n, high = x > sum[c] ? x : sum[c], low = x > sum[c] ? sum[c] : x;
        sum[c] = high + log_one_plus(vec_exp(low - high));
    }
}

real *predictor_row(Predictor *predictor, int r, double *normaliser)
{
    const Ensemble *ensemble = predictor->batch->ensemble;
    int models = ensemble->count, C = ensemble_tokens(ensemble);
    real *sum = model_row(predictor, 0, r);
    if (!normaliser && models == 1) return sum;
    assert(normaliser);
    double n = search_normaliser(sum, C);
    *normaliser = n;
    if (models == 1) return sum;
    for (int c = 0; c < C; c++) sum[c] -= (real)n;
    for (int m = 1; m < models; m++) {
        const real *z = model_row(predictor, m, r);
        double other = search_normaliser(z, C);
        if (!isfinite(other)) *normaliser = NAN;
        add_model(sum, z, (real)other, C);
    }
    if (isfinite(*normaliser)) *normaliser = log(models);
    return sum;
}
