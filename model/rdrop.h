/* rdrop.h -- R-Drop: each sentence goes through the network twice with different dropout masks, and
 * the two distributions over the vocabulary are drawn together.
 *
 * Rows 0 .. M/2-1 and M/2 .. M-1 of the decoder's output belong to the same tokens. For row n
 * and its copy n + M/2, with distributions p and q and the target t,
 *
 *     objective = -ln p_t - ln q_t + A · ½ (KL(p‖q) + KL(q‖p))          each -ln label-smoothed
 *
 * Liang et al. 2021, R-Drop: Regularized Dropout for Neural Networks (arXiv 2106.14448),
 * equations 1 to 3. An update does twice the work, and one more exponential for each logit. */
#ifndef MODEL_RDROP_H
#define MODEL_RDROP_H

#include "model/loss.h"

/* loss_layout for training, and the fields of R-Drop. Z keeps the logits: of the rows of a block,
 * then of their copies. */
void rdrop_layout(LossBuffers *buffers, Arena *arena, int M, const OutputLayer *w);

/* Adds the loss: tokens are M, nll and objective sums over both copies.
 * X [M,D]   objective: the second half of target [M] repeats the first; r_drop is A */
void rdrop_forward(Loss *loss, const real *X, const OutputLayer *w, const Objective *objective,
                   const LossBuffers *buffers, int M);

/* Adds the same, and the gradients of scale · objective:
 * dX [M,D] (=)   dw (+=)   turn: loss_chunks stages, or NULL */
void rdrop_backward(Loss *loss, real *dX, const OutputLayer *dw, Turn *turn, const real *X,
                    const OutputLayer *w, const Objective *objective,
                    const LossBuffers *buffers, int M);

#endif
