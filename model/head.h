/* head.h -- one head of attention on one sentence, as the paper has it: scores, softmax, values.
 *
 * Each step stands beside its backward. attention.h makes the heads and puts them together. */
#pragma once

#include "kernels/gemm.h"
#include "model/dropout.h"
#include "model/scorefunction.h"

/* Queries, keys, values and outputs, or their gradients: of all heads side by side, or of
 * one. */
typedef struct HeadRows {
    Rows Q, K, V, O;
} HeadRows;

/* Of the softmax of a row: its largest score, and 1 / Σ_j e^(S_j - largest). */
typedef struct RowSum {
    real largest, inverse;
} RowSum;

typedef struct AttentionHead {
    int n, m, dh;      // queries, keys, numbers of each
    bool causal;       // the last query sees all keys, the one before it one less, and so on
    bool large;        // P is a block of a larger map
    GemmMode mode;     // of dK and dV: ADD for all blocks of a map but the first
    real scale;        // of the scores
    HeadRows x;        // Q, O [n,dh]   K, V [m,dh]
    real *P;           // [n,head_width(m)] attention weights before dropout
    DropoutMask mask;  // as P
    Rows Kt, Vt;       // [dh,head_width(m)] scratch: keys and values as columns; can be one
    RowSum *sums;      // [n] which the softmax sets, or with `again` reads; or NULL
    bool again;
    real *Pd, *dP;  // as P, scratch of backward: after dropout; gradients
} AttentionHead;

/* A row of P is padded with zeros to whole vectors: m rounded up to a multiple of 16. */
static inline int head_width(int m)
{
    return (m + 15) / 16 * 16;
}

/* Forward: P (=) the scores, P (=) the weights, O (=). */
void head_scores(const AttentionHead *h);
void head_softmax(const AttentionHead *h);
void head_values(const AttentionHead *h);

/* Backward: dV (h->mode) and dP (=) the gradient of P, dP (=) that of the scores, dQ (=) and
 * dK (h->mode). */
void head_values_backward(const HeadRows *d, const AttentionHead *h);
void head_softmax_backward(const AttentionHead *h);
void head_scores_backward(const HeadRows *d, const AttentionHead *h);

/* T [dh,head_width(m)] (=) the transpose of X [m,dh], padded with zeros. */
void head_transpose(real *T, Rows X, int m, int dh);

/* z [head_width(seen)] (=) the softmax of its first `seen` numbers; the others become 0. */
RowSum softmax_row(real *z, int seen);
