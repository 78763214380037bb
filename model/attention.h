/* attention.h -- multi-head attention, one implementation for its three uses.
 *
 *   encoder self-attention    queries, keys and values from the source; every row sees every row
 *   decoder self-attention    all from the target; row i sees rows 0..i of its sentence (causal)
 *   encoder-decoder           queries from the target, keys and values from the encoded source
 *
 * Sentences are packed, so nothing is masked but the future: a query meets the keys of its own
 * sentence only. */
#ifndef MODEL_ATTENTION_H
#define MODEL_ATTENTION_H

#include "base/arena.h"
#include "base/packed.h"
#include "kernels/gemm.h"
#include "model/config.h"
#include "model/dropout.h"
#include "model/params.h"

/* Rows of vectors that lie `stride` reals apart; one head's part of Q, K, V or O. */
typedef struct Rows {
    real *at;
    int stride;
} Rows;

/* What one use of attention is: set up by attention_layout, filled by attention_forward. */
typedef struct Attention {
    const Packed *queries, *keys;  // the same for self-attention
    bool causal;
    int D, H, score;
    size_t *map;      // [S+1] where in P the H maps [n, attention_width(m)] of a sentence begin
    real *Q, *K, *V;  // row 0 of each, rows q_stride and kv_stride apart:
    int q_stride, kv_stride;  //   self: within [N,3D]; cross: Q [M,D], K and V within [N,2D]
    real *P;                  // probabilities before dropout
    uint8_t *keep;            // as P, or NULL: no dropout
    real keep_scale;
    real *O;   // [n,D] the heads' outputs, side by side: what out_proj reads
    real *Kt;  // [dh,width] scratch of one head: keys (backward: values) as columns
    real *Pd;  // [n,width] scratch of one head: probabilities after dropout
    real *dP;  // [n,width] scratch of one head, when training
} Attention;

/* A row of a map is padded with zeros to whole vectors: m rounded up to a multiple of 16. */
int attention_width(int m);

/* Probabilities of head h of sentence s: [n, attention_width(m)]. */
const real *attention_map(const Attention *a, int sentence, int head);

/* Takes the buffers for these sentences. keys: NULL for self-attention, whose keys are the
 * queries' rows. training: with scratch for backward. */
void attention_layout(Attention *a, Arena *arena, const ModelConfig *config,
                      const Packed *queries, const Packed *keys, bool causal,
                      const Dropout *dropout, bool training);

/* Y [n,D] (=) without the bias of out_proj, which the residual sum adds (layernorm.h)
 * Xq [n,D] the rows that ask   Xkv [m,D] the rows that are asked; NULL: self-attention, Xq */
void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w, const Dropout *dropout, uint32_t place);

/* dXq [n,D] (q_mode)   dXkv [m,D] (kv_mode), unused for self-attention   dw (+=), but for the
 * bias of out_proj   dO [n,D], dQKV as Q, K, V: scratch   dY [n,D] */
void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *dO, real *dQKV, const real *dY,
                        const Attention *a, const real *Xq, const real *Xkv,
                        const AttentionWeights *w);

/* T [dh,attention_width(m)] (=) the transpose of X [m,dh], padded with zeros: keys as columns. */
void attention_transpose(real *T, Rows X, int m, int dh);

/* z (=) its softmax over its first `seen` numbers; there is room for attention_width(seen), and
 * what is behind them becomes 0. */
void softmax_row(real *z, int seen);

/* One head of one sentence: P [n,width] (=), from Q [n,dh] and K [m,dh].
 * first: how many keys query 0 sees if causal (query i sees first + i), 0 if not causal.
 * Kt [dh,width] scratch. Dropout is the caller's: this is P before it. */
void attention_probabilities(real *P, real *Kt, Rows Q, Rows K, int n, int m, int dh, int first,
                             int score);

#endif
