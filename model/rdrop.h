/* rdrop.h -- R-Drop: what it does with the logits of a row and of its copy. The loops over rows, and
 * the products, are those of loss.c. */
#pragma once

#include "base/real.h"

/* A row of logits in chunks of classes; see LossBuffers. */
typedef struct RDropRow {
    const real *largest, *weighted;  // [chunks]
    real *sum;                       // [chunks]
    real *KL;                        // [1]
} RDropRow;

/* Returns Σ e^(z - m), where m is the largest of the logits z [width] of a chunk, which stay.
 * copy [width] the copy's   weighted (=) Σ e^(z - m) (z - z')   total (+=) Σ z */
real rdrop_exponentials(const real *z, const real *copy, real *largest, real *weighted,
                        double *total, int width);

/* Returns K + K', of a row and its copy. lse [2] (=)   row[·].KL (=)
 * row[·].sum (=) e^(m - lse), which rdrop_backward needs */
double rdrop_divergence(double lse[2], const RDropRow row[2], int chunks);

/* z, copy [width] (=) dz and dz' in chunk k, but for what the target distribution has more than
 * `uniform` on some classes. lse_change: lse[0] - lse[1]   a: half the weight */
void rdrop_backward(real *z, real *copy, const RDropRow row[2], real lse_change, int k, real a,
                    real scale, real uniform, int width);
