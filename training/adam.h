/* adam.h -- the arithmetic of an update: loops over the numbers of (slices of) blocks. */
#ifndef TRAINING_ADAM_H
#define TRAINING_ADAM_H

#include "base/real.h"

#include <stddef.h>

typedef struct AdamStep {
    double rate;  // learning rate of this update
    double beta1, beta2, epsilon;
    long long update;       // 1, 2, …: for the bias correction
    double gradient_scale;  // g is multiplied by it: gradient norm clipping
} AdamStep;

/* w, m, v (=) after one update of `count` numbers with gradient g; m and v start at zero. */
void adam_update(real *w, real *m, real *v, const real *g, size_t count, const AdamStep *step);

/* Weight decay, before adam_update: w (=) (1 - share) · w. */
void decay_update(real *w, size_t count, real share);

/* Exponential moving average, after adam_update: ema (=) ema + share · (w - ema). */
void ema_update(real *ema, const real *w, size_t count, real share);

#endif
