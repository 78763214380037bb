/* addnorm.h -- "Add & Norm": residual connections, and where the layer normalisation stands.
 *
 *   post-norm   X ← LayerNorm(X + dropout(F(X)))      Vaswani et al. 2017, §3.1
 *   pre-norm    X ← X + dropout(F(LayerNorm(X)))      Xiong et al. 2020 (arXiv 2002.04745);
 *                                                     one more LayerNorm at the end of a stack
 *
 * Written as a chain, both orders have a sum and a norm after each sublayer F, in one pass over
 * the rows. Pre-norm also begins with a norm. They differ in the input of the next residual
 * connection:
 *
 *   post-norm   F₁ ─ add & norm ─ F₂ ─ add & norm ─ …          the result of the norm
 *   pre-norm    norm ─ F₁ ─ add & norm ─ F₂ ─ add & norm ─ …   the sum before the norm
 *
 * So the same code serves both orders. In post-norm the weights of the norm after a sublayer
 * belong to that sublayer; in pre-norm to the next sublayer, or to the end of the stack
 * (params.c). */
#pragma once

#include "model/dropout.h"
#include "model/layernorm.h"

/* The activations between two sublayers. */
typedef struct Stream {
    const real *X;  // [N,D] input of the next residual connection
    const real *Y;  // [N,D] input of the next sublayer: X itself, or in pre-norm X normalised
} Stream;

/* The gradients of a Stream, during backward through a stack. */
typedef struct StreamGradient {
    real *dX;       // [N,D]
    real *dY;       // [N,D] dX itself where X and Y are one
    real *below;    // what dY becomes before the sum
    GemmMode mode;  // how a sublayer writes dY: ADD to the residual connection's, or SET
} StreamGradient;

typedef struct AddNorm {
    LayerNormSaved saved;
    real *sum;             // [N,D] pre-norm: the stack's residual stream; else saved.normal
    real *Y;               // [N,D]
    const real *residual;  // [N,D] input of the next residual connection: pre-norm sum, else Y
} AddNorm;

/* Lays out the norm at the beginning of a pre-norm stack. Returns the stack's residual stream
 * [N,D], which all its sums share as only the last one is needed; NULL in post-norm. */
real *addnorm_layout_first(AddNorm *first, Arena *arena, const ModelConfig *config, int N);
void addnorm_layout(AddNorm *norm, Arena *arena, const ModelConfig *config, int N, real *stream,
                    const Dropout *dropout);

/* The stream before the first sublayer of a stack.   X [N,D] embedded */
Stream addnorm_first(AddNorm *first, const real *X, NormWeights w, const ModelConfig *config,
                     int N);

/* The stream after a sublayer: before.X + dropout(F), normalised.   F [N,D] */
Stream addnorm_forward(AddNorm *norm, Stream before, const real *F, NormWeights w,
                       const Packed *rows, const Dropout *dropout, uint32_t place);

/* The gradient at the end of a stack, where only Y is used: dX [N,D] is its gradient.
 * dY [N,D] scratch for pre-norm */
StreamGradient addnorm_last(real *dX, real *dY, const ModelConfig *config);

/* g: in, after the norm; out, before the sum: the sublayer's backward writes g->dY (g->mode).
 * dF [N,D] scratch   dw (+=)   Returns F's gradient: dF, or g->dX without dropout. */
const real *addnorm_backward(const AddNorm *norm, StreamGradient *g, real *dF, NormWeights dw,
                             NormWeights w, int N);

/* g->dX becomes the gradient of the embedded rows.   dw (+=) */
void addnorm_first_backward(const AddNorm *first, StreamGradient *g, NormWeights dw,
                            NormWeights w, int N);
