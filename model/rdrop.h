/* rdrop.h -- R-Drop: every sentence goes through the network twice, with other dropout, and the
 * two distributions over the vocabulary shall be the same.
 *
 * Rows 0 .. M/2-1 and M/2 .. M-1 of the decoder's output belong to the same tokens. For row n
 * and its twin, with distributions p and q and the target t,
 *
 *     objective = -ln p_t - ln q_t + A · ½ (KL(p‖q) + KL(q‖p))          each -ln label-smoothed
 *
 * Liang et al. 2021, R-Drop: Regularized Dropout for Neural Networks (arXiv 2106.14448),
 * equations 1 to 3. It takes twice the work of an update, and one more exponential a score. */
#ifndef MODEL_RDROP_H
#define MODEL_RDROP_H

#include "model/loss.h"

/* Scratch for R rows, R = M but at most LOSS_ROWS: R/2 rows and their twins. */
typedef struct RDropBuffers {
    LossBuffers loss;  // laid out for training; Z holds scores, the twins' behind the others'
    real *apart;       // [R,chunks] Σ e^(z - largest) (z_n - z_twin)
    real *between;     // [R/2] lse of a row less that of its twin
    real *divergence;  // [R] KL from this row's distribution to its twin's
} RDropBuffers;

void rdrop_layout(RDropBuffers *buffers, Arena *arena, int M, int V, int D);

/* Adds to loss what the rows cost: its tokens are M, nll and objective sums over both copies.
 * X [M,D]   E [V,D]   bias [V]   target [M], the second half as the first   smoothing ε */
void rdrop_forward(Loss *loss, const real *X, const real *E, const real *bias,
                   const int *target, double smoothing, double A, const RDropBuffers *buffers,
                   int M, int V, int D);

/* The same, and the gradients of scale · objective:
 * dX [M,D] (=)   dE [V,D] (+=)   dbias [V] (+=), or NULL: the bias is not learned
 * turn: loss_chunks stages, or NULL */
void rdrop_backward(Loss *loss, real *dX, real *dE, real *dbias, Turn *turn, real scale,
                    const real *X, const real *E, const real *bias, const int *target,
                    double smoothing, double A, const RDropBuffers *buffers, int M, int V,
                    int D);

#endif
