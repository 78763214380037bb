/* predictor.c -- one model's scores as they are, or the mean of several's probabilities:
 *
 *   z_c = ln Σ_m e^(z_mc - n_m),   n_m = ln Σ_c e^(z_mc),      ln p(c) = z_c - ln M
 *
 * Two terms a ≥ b at a time, as a + ln(1 + e^(b - a)): where every model says e^-90, which is too
 * small for float, ln p still comes out right. See ensemble.h for why it is this mean. */
#include "inference/predictor.h"

#include <assert.h>
#include <math.h>

#include "kernels/vecexp.h"

void predictor_layout(Predictor *predictor, Arena *arena, const Ensemble *ensemble,
                      const Packed *source, const SearchTask *task, int each)
{
    int rows = source->sentences * each, steps = 0, capacity = 0;
    for (int s = 0; s < source->sentences; s++) {
        if (task[s].limit > steps) steps = task[s].limit;
        capacity += task[s].limit * each;
    }
    predictor->ensemble = ensemble;
    predictor->rows = 0;
    predictor->written = ARENA_TAKE(arena, int, (size_t)steps);
    for (int m = 0; m < ensemble->count; m++) {
        const Transformer *model = ensemble->model[m];
        predictor->logits[m] = logits_layout(arena, rows, model->config.vocab);
        cache_layout(&predictor->cache[m], arena, model, source, rows, steps, capacity);
    }
}

void predictor_encode(Predictor *predictor)
{
    for (int m = 0; m < predictor->ensemble->count; m++)
        cache_encode(&predictor->cache[m], predictor->ensemble->model[m]);
}

void predictor_step(Predictor *predictor, const Prefix *prefix, int count)
{
    for (int m = 0; m < predictor->ensemble->count; m++)
        predictor->X[m] =
            cache_step(&predictor->cache[m], predictor->ensemble->model[m], prefix, count);
    predictor->rows = count;
}

const int *predictor_written(Predictor *predictor, int r)
{
    cache_written(predictor->written, predictor_tree(predictor), r);
    return predictor->written;
}

static real *model_row(Predictor *predictor, int m, int r)
{
    const Transformer *model = predictor->ensemble->model[m];
    return logits_row(predictor->logits[m], r, predictor->X[m], &model->weights,
                      predictor->rows, model->config.vocab, model->config.d_model);
}

/* ln(1 + x) for x in [0, 1], without a branch, to 1e-7: with s = x / (2 + x) <= 1/3 it is
 * 2 artanh s = 2 (s + s³/3 + s⁵/5 + …). */
static inline real log_of_1_and(real x)
{
    real s = x / (2 + x), q = s * s, sum = (real)1 / 15;
    sum = sum * q + (real)1 / 13;
    sum = sum * q + (real)1 / 11;
    sum = sum * q + (real)1 / 9;
    sum = sum * q + (real)1 / 7;
    sum = sum * q + (real)1 / 5;
    sum = sum * q + (real)1 / 3;
    sum = sum * q + 1;
    return 2 * s * sum;
}

/* sum [C] (=) ln(e^sum + e^(z - n)) */
static void add_model(real *sum, const real *z, real n, int C)
{
#pragma omp simd
    for (int c = 0; c < C; c++) {
        real x = z[c] - n, high = x > sum[c] ? x : sum[c], low = x > sum[c] ? sum[c] : x;
        sum[c] = high + log_of_1_and(vec_exp(low - high));
    }
}

real *predictor_row(Predictor *predictor, int r, double *normaliser)
{
    int models = predictor->ensemble->count,
        C = predictor->ensemble->model[0]->config.vocab - 1;
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
