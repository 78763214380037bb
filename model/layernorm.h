/* layernorm.h -- layer normalisation. */
#pragma once

#include "base/arena.h"
#include "kernels/gemm.h"
#include "model/params.h"

typedef struct LayerNormSaved {
    const ModelConfig *config;
    real *normal;  // x̂ [N,D]
    real *rstd;    // [N]
} LayerNormSaved;

void layernorm_layout(LayerNormSaved *saved, Arena *arena, const ModelConfig *config, int N);

/* Y [N,D] (=)   X [N,D]; may be Y, or saved->normal, which x̂ replaces */
void layernorm_forward(real *Y, LayerNormSaved *saved, const real *X, NormWeights w, int N);

/* dX [N,D] (mode); with SET it may be dY   dw (+=)   dY [N,D] */
void layernorm_backward(GemmMode mode, real *dX, NormWeights dw, const real *dY,
                        const LayerNormSaved *saved, NormWeights w, int N);
