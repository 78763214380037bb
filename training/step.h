/* step.h -- the optimizers by name, and one step of them over the numbers of a slice. */
#pragma once

#include "base/real.h"

#include <stddef.h>

typedef enum { OPTIMIZER_ADAM, OPTIMIZER_MUON } OptimizerName;
extern const char *const optimizer_names[];  // in this order, ended by NULL
extern const char optimizer_help[];

typedef struct Step {
    double rate;  // learning rate of this update
    double beta1, beta2, epsilon;
    long long update;       // 1, 2, …: for the bias correction
    double gradient_scale;  // g is multiplied by it: gradient norm clipping
} Step;

/* w, m, v (=) after one update of `count` numbers with gradient g; m and v start at zero. */
void adam_update(real *w, real *m, real *v, const real *g, size_t count, const Step *step);

/* The same by an optimizer's own rule. What is no matrix learns by Adam with Muon, too. */
void step_update(OptimizerName optimizer, real *w, real *m, real *v, const real *g,
                 size_t count, const Step *step);
