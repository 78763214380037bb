/* adam.c -- Adam (Kingma and Ba 2015, algorithm 1), decoupled weight decay, and a moving
 * average.
 *
 *   m = β₁ m + (1-β₁) g            m̂ = m / (1 - β₁ᵘ)        bias correction,
 *   v = β₂ v + (1-β₂) g²           v̂ = v / (1 - β₂ᵘ)        u = 1, 2, …: the update's number
 *   w = w - rate · m̂ / (√v̂ + ε)
 *
 *   w = w - rate · decay · w                         before that: decoupled weight decay
 *   ema = ema + share · (w - ema)                    after that: exponential moving average
 *
 * The decay is that of AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2) with
 * the schedule over both terms, as in PyTorch: their λ is rate · decay here. It does not enter
 * m and v.
 *
 * Weights whose gradient is always zero (the embedding of <pad>, the gaps between tensors) keep
 * their bits. */
#include "training/adam.h"

#include <math.h>

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
