/* loss.h -- the output layer and its label-smoothed cross-entropy, forward and backward at once.
 *
 * Scores over the vocabulary are the largest matrix of all ([M,V]: 4,000 rows of 10,000 would be
 * 160 MB). They live for LOSS_BLOCK rows only: product, softmax, loss, and the gradients' two
 * products, then the next block. <pad>, the last id, is never produced: it has no score. */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include "base/arena.h"
#include "base/real.h"

enum { LOSS_BLOCK = 64 };  // rows

typedef struct Loss {
    double nll;        // Σ -ln p(target), nats
    double objective;  // Σ of what is minimised: label-smoothed
    long long tokens;  // how many targets
} Loss;

/* Scratch for one block. */
real *loss_layout(Arena *arena, int M, int V);

/* Adds to loss what the rows of X cost.
 * X [M,D]   E [V,D]   bias [V]   target [M]   smoothing ε   block: from loss_layout */
void loss_forward(Loss *loss, const real *X, const real *E, const real *bias, const int *target,
                  double smoothing, real *block, int M, int V, int D);

/* The same, and the gradients of scale · objective:
 * dX [M,D] (=)   dE [V,D] (+=)   dbias [V] (+=), or NULL: the bias is not learned */
void loss_backward(Loss *loss, real *dX, real *dE, real *dbias, real scale, const real *X,
                   const real *E, const real *bias, const int *target, double smoothing,
                   real *block, int M, int V, int D);

/* Z [M,V-1] (=) the scores themselves: X Eᵀ + bias */
void loss_logits(real *Z, const real *X, const real *E, const real *bias, int M, int V, int D);

#endif
