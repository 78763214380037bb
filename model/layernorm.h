/* layernorm.h -- a residual sum and its normalisation, in one pass.
 *
 * What a sublayer computed, F, is added to what went past it, X (Vaswani et al. 2017 §3.1, §5.4),
 * and the sum is normalised: Y = LayerNorm(X + dropout(F + bias)). The bias is that of the
 * sublayer's last matrix: added here, it costs no pass of its own. What goes on from here is up
 * to addnorm.h. */
#ifndef MODEL_LAYERNORM_H
#define MODEL_LAYERNORM_H

#include "base/arena.h"
#include "base/real.h"
#include "kernels/gemm.h"
#include "model/params.h"

#include <stdint.h>

/* What the sublayer adds to X. */
typedef struct Branch {
    const real *F;        // [N,D], or NULL: nothing is added
    const real *bias;     // [D]
    const uint8_t *keep;  // [N,D], or NULL: no dropout
    real scale;           // 1 / (1 - p)
} Branch;

typedef struct LayerNormSaved {
    real *normal;  // x̂ [N,D]
    real *rstd;    // [N]
} LayerNormSaved;

void layernorm_layout(LayerNormSaved *saved, Arena *arena, int N, int D);

/* Y [N,D] (=)   sum [N,D] (=) what is normalised, or saved->normal, where x̂ replaces it; not
 * written if nothing is added   X [N,D]   Y and sum may be X */
void layernorm_forward(real *Y, real *sum, LayerNormSaved *saved, const real *X, Branch branch,
                       NormWeights w, int N, int D);

/* dX [N,D] (mode): of the sum; with ADD it holds what came past the norm   dF [N,D] (=)
 * dbias [D] (+=), or NULL if nothing was added   dw (+=)   dY [N,D]   saved, branch, w as in
 * forward. dX may be dY with SET. dF is not written where there is no dropout. */
void layernorm_backward(GemmMode mode, real *dX, real *dF, real *dbias, NormWeights dw,
                        const real *dY, const LayerNormSaved *saved, Branch branch,
                        NormWeights w, int N, int D);

#endif
