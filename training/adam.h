/* adam.h -- what is done to every number in an update: loops over (slices of) blocks. */
#ifndef TRAINING_ADAM_H
#define TRAINING_ADAM_H

#include "base/real.h"

#include <stddef.h>

typedef struct AdamStep {
    double rate;  // learning rate of this update
    double beta1, beta2, epsilon;
    long long update;       // 1, 2, …: for the bias correction
    double gradient_scale;  // g is multiplied by this first: clipping
} AdamStep;

/* w, m, v (=) after one update of `count` numbers with gradient g; m and v start at zero. */
void adam_update(real *w, real *m, real *v, const real *g, size_t count, const AdamStep *step);

/* w (=) (1 - share) · w: the decay that goes before Adam's step. */
void decay_update(real *w, size_t count, real share);

/* The average goes a share of the way to the weights: ema (=) ema + share · (w - ema). */
void ema_update(real *ema, const real *w, size_t count, real share);

#endif
