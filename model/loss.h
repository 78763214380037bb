/* loss.h -- the output layer and its label-smoothed cross-entropy, forward and backward at once.
 *
 * Scores over the vocabulary are the largest matrix of all ([M,V]: 4,000 rows of 10,000 would be
 * 160 MB), so they live for LOSS_ROWS rows at most. <pad>, the last id, is never produced: it has
 * no score. */
#ifndef MODEL_LOSS_H
#define MODEL_LOSS_H

#include "base/arena.h"
#include "base/real.h"
#include "model/params.h"
#include "model/turns.h"

enum { LOSS_ROWS = 512, LOGITS_ROWS = 28 };
enum { LOSS_CLASSES = 256 };  // of a chunk

static inline int loss_chunks(int C)
{
    return (C + LOSS_CLASSES - 1) / LOSS_CLASSES;
}

typedef struct Loss {
    double nll;        // Σ -ln p(target), nats
    double objective;  // Σ of what is minimised: label-smoothed
    long long tokens;  // how many targets
} Loss;

/* Scratch for a block of R rows, R = M but at most LOSS_ROWS. */
typedef struct LossBuffers {
    real *Z;          // scores [R,V-1] by chunks of classes; room for one chunk if not training
    real *X;          // the block's rows of X [R,D], as gemm_repeated copies them
    real *largest;    // [R,chunks] the largest score of a row in a chunk
    real *sum;        // [R,chunks] of e^(z - largest)
    double *total;    // [R] Σ_c z_c
    real *at_target;  // [R] z of the target
} LossBuffers;

void loss_layout(LossBuffers *buffers, Arena *arena, int M, int V, int D, bool training);

/* Adds to loss what the rows of X cost.
 * X [M,D]   E [V,D]   bias [V]   target [M]   smoothing ε */
void loss_forward(Loss *loss, const real *X, const real *E, const real *bias, const int *target,
                  double smoothing, const LossBuffers *buffers, int M, int V, int D);

/* The same, and the gradients of scale · objective:
 * dX [M,D] (=)   dE [V,D] (+=)   dbias [V] (+=), or NULL: the bias is not learned
 * turn: loss_chunks stages, or NULL
 * buffers: laid out for training */
void loss_backward(Loss *loss, real *dX, real *dE, real *dbias, Turn *turn, real scale,
                   const real *X, const real *E, const real *bias, const int *target,
                   double smoothing, const LossBuffers *buffers, int M, int V, int D);

/* The turn that blocks of M rows go on with, a stage for each chunk of C classes. If they are
 * several, each adds to all chunks: then all are entered here at once, and it is NULL. */
Turn *loss_turn(Turn *turn, int M, int C);

/* Z [M,V-1] (=) the scores themselves: X Eᵀ + bias, of the network's output layer */
void logits_forward(real *Z, const real *X, const Weights *w, int M, int V, int D);

/* The scores [V-1] of row r of X [M,D], for whoever wants one row after the other, from 0 on:
 * LOGITS_ROWS are computed at a time, into the block that logits_layout made room for. */
real *logits_row(real *block, int r, const real *X, const Weights *w, int M, int V, int D);
real *logits_layout(Arena *arena, int M, int V);

#endif
