/* rdrop.h -- R-Drop: the loss of a micro-batch that has every sentence twice. */
#pragma once

#include "model/loss.h"

/* As loss_backward, where row n + M/2 is the copy of row n: the loss is the sum over both copies. */
void rdrop_backward(Loss *loss, real *dX, const OutputLayer *dw, const real *X,
                    const OutputLayer *w, const Objective *objective, const LossBuffers *b,
                    int M);
