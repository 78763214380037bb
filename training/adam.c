/* adam.c -- Adam (Kingma and Ba 2015, algorithm 1), weight decay, and a moving average.
 *
 *   m = β₁ m + (1-β₁) g            v = β₂ v + (1-β₂) g²
 *   w = w - rate · m̂ / (√v̂ + ε)    m̂ = m / (1 - β₁ᵘ),  v̂ = v / (1 - β₂ᵘ),  u = 1, 2, …
 *
 *   w = w - rate · decay · w                         before that: decoupled weight decay
 *   ema = ema + share · (w - ema)                    after that
 *
 * The decay is AdamW's (Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2) with the
 * schedule over both terms, as PyTorch has it: their λ is rate · decay here, and m and v never
 * see it.
 *
 * Weights whose gradient is always zero (the embedding of <pad>, the gaps between tensors) stay
 * as they are, to the bit. */
#include "training/adam.h"

#include <math.h>

void adam_update(real *w, real *m, real *v, const real *g, size_t count, const AdamStep *step)
{
    double u = (double)step->update;
    real beta1 = (real)step->beta1, beta2 = (real)step->beta2;
    real new1 = (real)(1 - step->beta1), new2 = (real)(1 - step->beta2);
    real rate = (real)(step->rate / (1 - pow(step->beta1, u)));
    real root = (real)(1 / sqrt(1 - pow(step->beta2, u)));
    real epsilon = (real)step->epsilon, scale = (real)step->gradient_scale;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        real gradient = scale * g[i];
        m[i] = beta1 * m[i] + new1 * gradient;
        v[i] = beta2 * v[i] + new2 * gradient * gradient;
        real deviation = (real)sqrt(v[i]);
        w[i] -= rate * m[i] / (deviation * root + epsilon);
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
