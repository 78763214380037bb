/* layernorm.h -- a residual connection and its layer normalisation.
 *
 * The output F of a sublayer is added to its residual input X (Vaswani et al. 2017 §3.1, §5.4)
 * and the sum is normalised: Y = LayerNorm(X + dropout(F)). addnorm.h says whether Y or the sum
 * is the input of the next residual connection. */
#pragma once

#include "base/arena.h"
#include "base/real.h"
#include "kernels/gemm.h"
#include "model/dropout.h"
#include "model/params.h"

typedef struct LayerNormSaved {
    const ModelConfig *config;
    real *normal;      // x̂ [N,D]
    real *rstd;        // [N]
    DropoutMask mask;  // [N,D] of F
} LayerNormSaved;

/* rate: of dropout on F */
void layernorm_layout(LayerNormSaved *saved, Arena *arena, int N, const ModelConfig *config,
                      double rate);

/* Y [N,D] (=)   sum [N,D] (=) X + dropout(F); may be saved->normal, then x̂ replaces it
 * X [N,D]   F [N,D], or NULL: X is normalised, sum is not used   Y and sum may be X. */
void layernorm_forward(real *Y, real *sum, LayerNormSaved *saved, const real *X, const real *F,
                       NormWeights w, int N);

/* dX [N,D] (mode) of the sum; with ADD it holds the gradient of the residual connection
 * dF [N,D] (=), not written without dropout, where it equals dX
 * dw (+=)   dY [N,D]   With SET dX may be dY. */
void layernorm_backward(GemmMode mode, real *dX, real *dF, NormWeights dw, const real *dY,
                        const LayerNormSaved *saved, NormWeights w, int N);
