/* step.c -- the optimizers that update number by number: Adam (Kingma and Ba 2015, algorithm 1).
 * Muon, which needs whole matrices, is in muon.c.
 *
 *   m = β₁ m + (1-β₁) g            m̂ = m / (1 - β₁ᵘ)        bias correction,
 *   v = β₂ v + (1-β₂) g²           v̂ = v / (1 - β₂ᵘ)        u = 1, 2, …: the update's number
 *   w = w - rate · m̂ / (√v̂ + ε)
 *
 * README.md explains each, and has the sources. Weights whose gradient is always zero (the
 * embedding of <pad>, the gaps between tensors) keep their bits. */
#include "training/step.h"

#include <math.h>

const char *const optimizer_names[] = {"adam", "muon", NULL};
const char optimizer_help[] = "muon: the layers' matrices learn by Muon, in fewer updates; "
                              "embeddings, biases and norms by Adam";

void adam_update(real *w, real *m, real *v, const real *g, size_t count, const Step *step)
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

void step_update(OptimizerName optimizer, real *w, real *m, real *v, const real *g,
                 size_t count, const Step *step)
{
    switch (optimizer) {
    case OPTIMIZER_ADAM:
    case OPTIMIZER_MUON: adam_update(w, m, v, g, count, step);
    }
}
