/* addnorm.h -- "Add & Norm": the residual connection around a sublayer F, and where its norm
 * stands.
 *
 *   post-norm   Y = LayerNorm(X + dropout(F(X)))      Vaswani et al. 2017, §3.1
 *   pre-norm    Y = X + dropout(F(LayerNorm(X)))      Xiong et al. 2020 (arXiv 2002.04745);
 *                                                     one more LayerNorm at the end of a stack
 *
 * So addnorm_input gives F its input, and addnorm_output makes Y. Backward they are called in
 * the opposite order, with F's backward between them. */
#pragma once

#include "base/packed.h"
#include "model/dropout.h"
#include "model/layernorm.h"

typedef struct AddNorm {
    LayerNormSaved norm;
    DropoutMask mask;  // [N,D] of F
    real *normalised;  // [N,D] the norm's output
    real *sum;         // [N,D] X + dropout(F), which pre-norm returns; post-norm overwrites it
} AddNorm;

/* sum [N,D]: in pre-norm, of the whole stack, as X + dropout(F) can be X; in post-norm NULL */
void addnorm_layout(AddNorm *a, Arena *arena, const ModelConfig *config, int N, real *sum,
                    const Dropout *dropout, uint32_t place);

/* Returns the input of F [N,D].   X [N,D] */
const real *addnorm_input(AddNorm *a, const real *X, NormWeights w, int N);

/* Returns Y [N,D].   X, F [N,D] */
const real *addnorm_output(AddNorm *a, const real *X, const real *F, NormWeights w,
                           const Packed *rows);

/* dX [N,D]: in, the gradient of Y; out, that of the residual connection
 * Returns the gradient of F: dF [N,D] (=), or dX without dropout.   dw (+=) */
const real *addnorm_output_backward(const AddNorm *a, real *dX, real *dF, NormWeights dw,
                                    NormWeights w, int N);

/* dX [N,D] (+=) what comes through the norm before F, if there is one: dinput [N,D] is the
 * gradient of F's input. In post-norm F's backward adds to dX itself.   dw (+=) */
void addnorm_input_backward(const AddNorm *a, real *dX, const real *dinput, NormWeights dw,
                            NormWeights w, int N);
