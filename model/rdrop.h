/* rdrop.h -- R-Drop: each sentence goes through the network twice with different dropout masks,
 * and the KL divergence between the two distributions over the vocabulary is added to the loss.
 *
 * Rows 0 .. M/2-1 and M/2 .. M-1 of the decoder's output belong to the same tokens. For row n
 * and its copy n + M/2, with distributions p and q and the target t,
 *
 *     objective = -ln p_t - ln q_t + A · ½ (KL(p‖q) + KL(q‖p))          each -ln label-smoothed
 *
 * Liang et al. 2021, R-Drop: Regularized Dropout for Neural Networks (arXiv 2106.14448),
 * equations 1 to 3. An update does twice the work, and one more exponential for each logit.
 *
 * These functions compute one row and its copy, chunk of classes by chunk; loss.c calls
 * them. */
#ifndef MODEL_RDROP_H
#define MODEL_RDROP_H

#include "base/real.h"

/* Returns Σ e^(z - m) over a chunk z [width], m its largest logit.   copy [width] the copy's logits
 * largest (=) m   weighted (=) Σ e^(z - m) (z - z')   total (+=) Σ z */
real rdrop_chunk(real *largest, real *weighted, double *total, const real *z, const real *copy,
                 int width);

/* Returns Σ_c p_c (z_c - z'_c) of a row, from its chunks.
 * lse (=)   sum [chunks]: in, that of rdrop_chunk; out, e^(m - lse)   largest, weighted [chunks] */
double rdrop_row(double *lse, real *sum, const real *largest, const real *weighted, int chunks);

/* One row of a pair in a chunk. */
typedef struct RDropRow {
    real largest;     // m
    real factor;      // e^(m - lse): p = factor · e^(z - m)
    real divergence;  // KL from this row's distribution to its copy's
} RDropRow;

/* z, copy [width] (=) their gradients, without the target's (1-ε): scale times the formulas of
 * rdrop.c.   lse_change: lse - lse'   a: A / 2   uniform: ε/C */
void rdrop_chunk_backward(real *z, real *copy, RDropRow row, RDropRow copy_row, real lse_change,
                          real a, real scale, real uniform, int width);

#endif
