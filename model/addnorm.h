/* addnorm.h -- how what a sublayer computes joins what goes past it, and where the norm stands.
 *
 *   post-norm   X ← LayerNorm(X + dropout(F(X)))      Vaswani et al. 2017, §3.1
 *   pre-norm    X ← X + dropout(F(LayerNorm(X)))      Xiong et al. 2020 (arXiv 2002.04745);
 *                                                     at the end of a stack, one LayerNorm more
 *
 * Written as a chain, both are sublayers with a sum and a norm behind each, which is one pass
 * over the rows. They differ in what goes past the next sublayer, the norm's result or the sum
 * before it, and in that pre-norm begins with a norm:
 *
 *   post-norm   F₁ ─ add & norm ─ F₂ ─ add & norm ─ …          past F goes what F reads
 *   pre-norm    norm ─ F₁ ─ add & norm ─ F₂ ─ add & norm ─ …   past F goes the sum alone
 *
 * So the code of a stack is the same for both. The weights behind a sublayer are those of its own
 * norm in post-norm, and in pre-norm those of the next sublayer's, or of the stack's last
 * (params.c). */
#ifndef MODEL_ADDNORM_H
#define MODEL_ADDNORM_H

#include "model/dropout.h"
#include "model/layernorm.h"

/* What there is between two sublayers. */
typedef struct Stream {
    const real *X;  // [N,D] what goes past the next sublayer
    const real *Y;  // [N,D] what it reads: X itself, or X normalised in pre-norm
} Stream;

/* The gradients of a Stream, on the way back through a stack. */
typedef struct StreamGradient {
    real *dX;       // [N,D]
    real *dY;       // [N,D], dX itself where X and Y are one
    real *below;    // where dY is, once below a sum
    GemmMode mode;  // how a sublayer leaves its own at dY: ADD to what went past it, or SET
} StreamGradient;

typedef struct AddNorm {
    LayerNormSaved saved;
    uint8_t *keep;     // [N,D], or NULL: no dropout
    real scale;        // 1 / (1 - p)
    real *sum;         // [N,D] where the sum goes: pre-norm, the stream; else saved.normal
    real *Y;           // [N,D]
    const real *past;  // [N,D] what goes past the next sublayer: sum in pre-norm, else Y
} AddNorm;

/* Takes the norm at the beginning of a stack, and returns the stack's stream [N,D]; in post-norm
 * there is neither. (Only the last sum of a stack is ever needed, so all of them share it.) */
real *addnorm_layout_first(AddNorm *first, Arena *arena, const ModelConfig *config, int N);
void addnorm_layout(AddNorm *norm, Arena *arena, const ModelConfig *config, int N, real *stream,
                    const Dropout *dropout);

/* What the first sublayer of a stack finds.   X [N,D] embedded */
Stream addnorm_first(AddNorm *first, const real *X, NormWeights w, const ModelConfig *config,
                     int N);

/* What the next sublayer finds: the sum of before.X and dropout(F + bias), normalised.
 * F [N,D] */
Stream addnorm_forward(AddNorm *norm, Stream before, const real *F, const real *bias,
                       NormWeights w, const Packed *rows, int D, const Dropout *dropout,
                       uint32_t place);

/* At the end of a stack, where only Y goes on: dX [N,D] is its gradient.   dY [N,D] scratch */
StreamGradient addnorm_last(real *dX, real *dY, const ModelConfig *config);

/* g: in, behind the norm; out, before the sum, with dY ready for the sublayer's gradient.
 * dF [N,D] scratch; returns where dF is: there, or at dX if there is no dropout
 * dbias, dw (+=) */
const real *addnorm_backward(const AddNorm *norm, StreamGradient *g, real *dF, real *dbias,
                             NormWeights dw, NormWeights w, int N, int D);

/* g->dX becomes the gradient of the embedded rows.   dw (+=) */
void addnorm_first_backward(const AddNorm *first, StreamGradient *g, NormWeights dw,
                            NormWeights w, const ModelConfig *config, int N);

#endif
