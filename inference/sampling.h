/* sampling.h -- a token drawn from the model's distribution.
 *
 *   temperature T   q(c) ∝ e^(z_c / T)                   T = 1: the model's own
 *   top-k           only the k most probable tokens      (Fan et al. 2018, arXiv 1805.04833, §5)
 *   top-p           only the fewest most probable ones whose q, of those that top-k has left, adds
 *                   up to p                              (Holtzman et al. 2019, arXiv 1904.09751, §3.1)
 *
 * in this order, as far as they are asked for; then c is drawn with its share of what is left.
 * Of equally probable tokens the lower id counts as the more probable.
 *
 * The draw depends on the seed, the number of the line in the user's input, the number of the
 * sample and the place of the token, and on nothing else: not on the batch, nor on the thread. (Where
 * OpenBLAS multiplies, gemm.h, the scores' rounding errors depend on the batch, and decide where a
 * draw falls as close as that to a border; how c is drawn keeps the borders few: sampling.c.) */
#ifndef INFERENCE_SAMPLING_H
#define INFERENCE_SAMPLING_H

#include "base/arena.h"
#include "base/rng.h"
#include "inference/search.h"

typedef struct Share {
    real weight;  // e^((z - largest) / T)
    int token;
} Share;

typedef struct Sampling {
    real *weight;    // [C]
    double *before;  // [blocks+1] Σ of the weights of all blocks of tokens before one
    Share *share;    // [C] a heap, the largest first
} Sampling;

void sampling_layout(Sampling *sampling, Arena *arena, int C);

/* Draws from z [C], of which some may be -infinity but not all. */
int sampling_draw(Sampling *sampling, const real *z, int C, Rng rng,
                  const SearchConfig *config);

/* The random numbers for place `step` of sample number `sample` of a line. */
Rng sampling_rng(uint64_t seed, uint64_t line, int sample, int step);

#endif
