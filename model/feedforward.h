/* feedforward.h -- the position-wise feed-forward network (Vaswani et al. 2017, §3.3). */
#ifndef MODEL_FEEDFORWARD_H
#define MODEL_FEEDFORWARD_H

#include "base/arena.h"
#include "base/packed.h"
#include "kernels/gemm.h"
#include "model/dropout.h"
#include "model/params.h"

typedef struct FeedforwardSaved {
    int activation;
    real *H;           // [N,F] what goes into fc2: activated, dropped out
    real *slope;       // [N,F] dH/dA of GELU and Swish; NULL: ReLU
    int slope_stride;  // F, or 0 when not training: one row, over and over
    uint8_t *keep;     // [N,F], or NULL: no dropout
    real scale;        // 1 / (1 - p)
} FeedforwardSaved;

void feedforward_layout(FeedforwardSaved *saved, Arena *arena, int N, const ModelConfig *config,
                        const Dropout *dropout, bool training);

/* Y [N,D] (=) without the bias of fc2, which the residual sum adds (layernorm.h)
 * X [N,D]   dropout: NULL when not training */
void feedforward_forward(real *Y, FeedforwardSaved *saved, const real *X,
                         const FeedforwardWeights *w, const Packed *rows, int D, int F,
                         const Dropout *dropout, uint32_t place);

/* dX [N,D] (mode)   dw (+=), but for the bias of fc2   dY [N,D]   dH [N,F] scratch */
void feedforward_backward(GemmMode mode, real *dX, FeedforwardWeights *dw, real *dH,
                          const real *dY, const FeedforwardSaved *saved, const real *X,
                          const FeedforwardWeights *w, int N, int D, int F);

#endif
