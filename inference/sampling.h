/* sampling.h -- draws a token from the model's distribution.
 *
 *   temperature T   q(c) ∝ e^(z_c / T)                   T = 1: the model's own
 *   top-k           only the k most probable tokens
 *                   (Fan et al. 2018, arXiv 1805.04833, §5)
 *   top-p           only the smallest set of most probable tokens whose q, among those that
 *                   top-k keeps, sums to p: nucleus sampling (Holtzman et al. 2019,
 *                   arXiv 1904.09751, §3.1)
 *
 * They are applied in this order. Then c is drawn with its share of the remaining probability.
 * Of equally probable tokens, the lower id ranks first.
 *
 * The draw depends only on the seed, the number of the line in the user's input, the number of
 * the sample and the position of the token, and not on the batch or the thread. */
#pragma once

#include "base/arena.h"
#include "base/best.h"
#include "base/rng.h"
#include "inference/search.h"

typedef struct Sampling {
    real *weight;    // [C] e^((z - largest) / T)
    double *before;  // [blocks+1] sum of the weights of all earlier blocks of tokens
    Best *list;      // [C] scratch
} Sampling;

void sampling_layout(Sampling *sampling, Arena *arena, int C);

/* Draws from the scores z [C]. Some of them may be -infinity, but not all. */
int sampling_draw(Sampling *sampling, const real *z, int C, Rng rng,
                  const SearchConfig *config);

/* The random numbers for token `step` of sample number `sample` of a line. */
Rng sampling_rng(uint64_t seed, uint64_t line, int sample, int step);
