/* significance.h -- how certain a score is, and whether two systems differ by more than chance.
 *
 *   bootstrap        resamples the segments with replacement: the mean of a score and its 95 %
 *                    interval; of two systems also a p-value (Koehn 2004, W04-3250)
 *   randomization    swaps segments of two systems at random: a p-value (Riezler and Maxwell 2005,
 *                    W05-0908)
 *
 * Both are sacrebleu's paired tests, with its generator and its seed, so the figures agree. */
#pragma once

#include "scores/statistics.h"

typedef enum {
    SIGNIFICANCE_AUTO,  // bootstrap for several systems, none for one
    SIGNIFICANCE_NONE,
    SIGNIFICANCE_BOOTSTRAP,
    SIGNIFICANCE_RANDOMIZATION
} Significance;

enum { SIGNIFICANCE_SEED = 12345 };  // of the generator

/* "auto", "none", "bootstrap", "randomization", NULL */
extern const char *const significance_names[];

typedef struct Estimate {
    double mean, interval;  // the 95 % interval is mean ± interval; NAN after randomization
    double p;  // that chance alone makes the difference; NAN without one, or another system
} Estimate;

/* estimate [SCORES] (=); system, other [segments]: the statistics of each segment; other: those of
 * the system that it is compared with, or NULL. Fails if memory is short. */
bool significance_estimate(Estimate *estimate, Significance test, const Statistics *system,
                           const Statistics *other, int segments, int trials, Error *error);
