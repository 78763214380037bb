/* feedforward.h -- the position-wise feed-forward network (Vaswani et al. 2017, §3.3). */
#pragma once

#include "base/arena.h"
#include "base/packed.h"
#include "kernels/gemm.h"
#include "model/dropout.h"
#include "model/params.h"

typedef struct FeedforwardSaved {
    const ModelConfig *config;
    const real *X;     // [N,D] the input
    real *H;           // [N,F] the input of fc2: activations after dropout
    real *slope;       // [N,F] dH/dA of GELU and Swish; NULL: ReLU
    DropoutMask mask;  // [N,F]
} FeedforwardSaved;

/* dropout: NULL when not training */
void feedforward_layout(FeedforwardSaved *saved, Arena *arena, int N, const ModelConfig *config,
                        const Dropout *dropout, uint32_t place);

/* Y [N,D] (=)   X [N,D]; must remain until backward */
void feedforward_forward(real *Y, FeedforwardSaved *saved, const real *X,
                         const FeedforwardWeights *w, const Packed *rows);

/* dX [N,D] (mode)   dw (+=)   dH [N,F] scratch   dY [N,D] */
void feedforward_backward(GemmMode mode, real *dX, FeedforwardWeights *dw, real *dH,
                          const real *dY, const FeedforwardSaved *saved,
                          const FeedforwardWeights *w, int N);
