/* loss.h -- the output layer and its label-smoothed cross-entropy, forward and backward at
 * once.
 *
 * The logits are the largest matrix of all ([M,V]: 4,000 rows of 10,000 would be 160 MB), so at
 * most LOSS_ROWS rows of them exist at a time. <pad>, the last id, is never produced: it is no
 * class and has no logit. */
#pragma once

#include "base/arena.h"
#include "base/real.h"
#include "model/params.h"

enum { LOSS_ROWS = 512, LOGITS_ROWS = 28 };
enum { LOSS_CLASSES = 256 };  // of a chunk

/* logits = X Eᵀ + bias. The same struct for the gradients dE and dbias. */
typedef struct OutputLayer {
    real *E;     // [C,D]
    real *bias;  // [C]; of gradients NULL: the bias is not learned
    int C;       // classes: V - 1, all but <pad>
    int D;
    GemmMode precision;  // SET, or BF16: round the factors of products
} OutputLayer;

/* A token of a teacher's distribution. */
typedef struct SoftTarget {
    int id;
    real probability;
} SoftTarget;

/* Word-level knowledge distillation: for each row the teachers' tokens, whose probabilities
 * sum to 1. A token may be there several times. */
typedef struct SoftTargets {
    const SoftTarget *at;  // [M,each]
    int each;              // 0: no teacher
    double weight;         // λ; 0 without a teacher
} SoftTargets;

/* What is minimised. */
typedef struct Objective {
    const int *target;  // [M]
    double smoothing;   // ε of label smoothing
    double r_drop;      // weight A of R-Drop's divergence
    real scale;         // backward computes the gradients of scale · objective
    SoftTargets soft;
} Objective;

typedef struct Loss {
    double nll;        // Σ -ln p(target), in nats
    double objective;  // Σ of what is minimised: with label smoothing
    long long tokens;  // number of targets
} Loss;

/* Scratch for a block of R rows: all M with R-Drop, else at most LOSS_ROWS. */
typedef struct LossBuffers {
    bool training, pairs;
    int rows;          // R
    real *Z;           // logits [R,C] chunk by chunk; only one chunk if not training
    real *largest;     // [R,chunks] m: the largest logit of a row in a chunk
    real *sum;         // [R,chunks] Σ e^(z - m)
    double *total;     // [R] Σ_c z_c
    real *at_target;   // [R] z of the target
    double *at_soft;   // [R] Σ_c s_c z_c
    real *weighted;    // [R,chunks] R-Drop only, as the next: Σ e^(z - m) (z - z')
    real *lse_change;  // [R/2] lse of a row less that of its copy
    real *KL;          // [R] from this row's distribution to its copy's
} LossBuffers;

/* pairs: for R-Drop, where row n + M/2 is the copy of row n, the same tokens with another
 * dropout mask; training is then implied */
void loss_layout(LossBuffers *buffers, Arena *arena, int M, const OutputLayer *w, bool training,
                 bool pairs);

/* Adds the loss of the rows of X [M,D] and, unless dX is NULL, the gradients of scale · objective:
 * dX [M,D] (=)   dw (+=)   buffers: laid out for training */
void loss_backward(Loss *loss, real *dX, const OutputLayer *dw, const real *X,
                   const OutputLayer *w, const Objective *objective, const LossBuffers *buffers,
                   int M);

/* dz of row r and class c, after loss_backward of M <= LOSS_ROWS rows */
real loss_logit_gradient(const LossBuffers *buffers, int r, int c, int M, int C);

/* The logits [V-1] = X Eᵀ + bias of row r of X [M,D]. Call it for r = 0, 1, …: it computes LOGITS_ROWS rows
 * at a time into block, which logits_layout takes. */
real *logits_row(real *block, int r, const real *X, const Matrix *output, const real *bias,
                 int M, int V, int D);
real *logits_layout(Arena *arena, int M, int V);
