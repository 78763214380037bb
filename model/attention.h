/* attention.h -- multi-head attention, one implementation for its three uses.
 *
 *   encoder self-attention      queries, keys and values from the source; every row sees every row
 *   decoder self-attention      all from the target; causal mask: row i sees rows 0..i
 *   encoder-decoder attention   queries from the target, keys and values from the encoded source
 *
 * Sentences are packed: a query meets the keys of its own sentence only, so the causal mask is
 * the only mask. */
#pragma once

#include "base/arena.h"
#include "base/packed.h"
#include "kernels/gemm.h"
#include "model/config.h"
#include "model/dropout.h"
#include "model/params.h"

/* Queries, keys, values and outputs, or their gradients: of all heads side by side, or of
 * one. */
typedef struct HeadRows {
    Rows Q, K, V, O;
} HeadRows;

/* The block of attention_layout, 512 kB: of an encoder's map from 363 tokens on (docs/speed.md). */
enum { ATTENTION_BLOCK = 128 * 1024 };

/* Of the softmax of a row: its largest score, and 1 / Σ_j e^(S_j - largest). */
typedef struct RowSum {
    real largest, inverse;
} RowSum;

/* One use of attention: set up by attention_layout, filled by attention_forward. */
typedef struct Attention {
    const Packed *queries, *keys;  // the same for self-attention
    bool self, causal;
    int D, H, dh;
    const ScoreFunction *score;
    real scale;            // of the scores, if it is not learned
    const real *Xq, *Xkv;  // [n,D] [m,D] the inputs
    size_t block;          // numbers of a map that P holds at a time
    size_t *map;     // [S+1] where in P the H maps [n, attention_width(m)] of a sentence begin
    size_t numbers;  // of all maps that fit a block; P has the block of the others behind them
    HeadRows heads;  // Q, O [n,D]   K, V [m,D]
    real *P;         // attention weights before dropout
    RowSum *sums;    // [H,n] for backward, if there are maps that do not fit a block
    DropoutMask mask;  // as P
    const Dropout *dropout;
    uint32_t place;
    real *Kt;     // [dh,width] scratch of one head: keys as columns
    real *Vt;     // [dh,width] backward: values as columns; Kt if all maps fit a block
    real *Pd;     // [n,width] scratch of one block: attention weights after dropout
    real *dP;     // [n,width] scratch of one block, when training
    real *guide;  // NULL, or for each sentence a map of the links G that head 0 learns
    /* the gradients of every head, which KEEP_GRADIENTS keeps; NULL in training */
    HeadRows kept;            // dQ, dO [n,D]   dK, dV [m,D]
    real *kept_dP, *kept_dS;  // as P
} Attention;

/* A row of a map is padded with zeros to whole vectors: m rounded up to a multiple of 16. */
int attention_width(int m);

/* The scale of a head's scores: 1 / √dh in scaled dot-product attention. */
real attention_scale(const ModelConfig *config, const AttentionWeights *w, int head);

/* The attention weights of head h of sentence s: [n, attention_width(m)]. Only of a map that was
 * kept (attention_layout). */
const real *attention_map(const Attention *a, int sentence, int head);

/* Where in P they begin, and in kept_dP and kept_dS their gradient and that of the scores. */
size_t attention_map_at(const Attention *a, int sentence, int head);

/* Takes the buffers for these sentences. keys: NULL for self-attention, whose keys are the rows
 * of the queries. training: takes the scratch of backward too. block: a map of more numbers is
 * computed a block of rows at a time, again in backward, and is not kept; SIZE_MAX keeps all. */
void attention_layout(Attention *a, Arena *arena, const ModelConfig *config,
                      const Packed *queries, const Packed *keys, bool causal,
                      const Dropout *dropout, bool training, size_t block);

/* After attention_layout, when training: backward then fills a->kept, kept_dP and kept_dS. */
void attention_keep(Attention *a, Arena *arena);

/* Y [n,D] (=)
 * Xq [n,D] input of the queries   Xkv [m,D] input of keys and values; NULL: self-attention, Xq
 * Xq and Xkv must remain until backward. */
void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w, const Dropout *dropout, uint32_t place);

/* dXq [n,D] (q_mode)   dXkv [m,D] (kv_mode), not used for self-attention   dw (+=)
 * scratch [2(n+m),D]   dY [n,D] */
void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *scratch, const real *dY, const Attention *a,
                        const AttentionWeights *w);

/* T [dh,attention_width(m)] (=) the transpose of X [m,dh], padded with zeros: keys as
 * columns. */
void attention_transpose(real *T, Rows X, int m, int dh);

/* z [attention_width(seen)] (=) the softmax of its first `seen` numbers; the others become
 * 0. */
RowSum softmax_row(real *z, int seen);

/* P [n,width] (=) softmax_rows(S), of S in its place, for m keys
 * causal: the last row sees all keys, the one before one less, and so on; else all see all
 * sums [n] (=), or NULL; again: it is what the same call returned before (read) */
void attention_softmax(real *P, RowSum *sums, bool again, int n, int m, bool causal);
