/* layernorm.h -- "Add & Norm": the residual sum and its normalisation, in one pass.
 *
 * A sublayer F adds to its input X, and the sum is normalised (post-norm, Vaswani et al. 2017
 * §3.1, §5.4): Y = LayerNorm(X + dropout(F + bias)). The bias is that of the sublayer's last
 * matrix: added here, it costs no pass of its own. */
#ifndef MODEL_LAYERNORM_H
#define MODEL_LAYERNORM_H

#include "base/arena.h"
#include "base/real.h"
#include "model/params.h"

#include <stdint.h>

/* What the sublayer adds to X. */
typedef struct Branch {
    const real *F;        // [N,D]
    const real *bias;     // [D]
    const uint8_t *keep;  // [N,D], or NULL: no dropout
    real scale;           // 1 / (1 - p)
} Branch;

typedef struct LayerNormSaved {
    real *normal;  // x̂ [N,D]
    real *rstd;    // [N]
} LayerNormSaved;

void layernorm_layout(LayerNormSaved *saved, Arena *arena, int N, int D);

/* Y [N,D] (=)   X [N,D]   Y may be X */
void layernorm_forward(real *Y, LayerNormSaved *saved, const real *X, Branch branch,
                       NormWeights w, int N, int D);

/* dX [N,D] (=)   dF [N,D] (=)   dbias [D] (+=)   dw (+=)   dY [N,D]   saved, branch, w as in
 * forward. dX may be dY. dF may be dX where there is no dropout (then it is not written). */
void layernorm_backward(real *dX, real *dF, real *dbias, NormWeights dw, const real *dY,
                        const LayerNormSaved *saved, Branch branch, NormWeights w, int N, int D);

#endif
