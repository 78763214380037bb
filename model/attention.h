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
#include "model/config.h"
#include "model/dropout.h"
#include "model/head.h"
#include "model/params.h"

/* The block of attention_layout, 512 kB: of an encoder's map from 363 tokens on (docs/speed.md). */
enum { ATTENTION_BLOCK = 128 * 1024 };

/* One use of attention: set up by attention_layout, filled by attention_forward. */
typedef struct Attention {
    const ModelConfig *config;
    const Packed *queries, *keys;  // the same for self-attention
    bool self, causal;
    const ScoreFunction *score;
    const real *Xq, *Xkv;  // [n,D] [m,D] the inputs
    size_t block;          // numbers of a map that P holds at a time
    size_t *map;           // [S+1] where in P the H maps [n,head_width(m)] of a sentence begin
    size_t numbers;  // of all maps that fit a block; P has the block of the others behind them
    HeadRows heads;  // Q, O [n,D]   K, V [m,D]
    real *P;         // attention weights before dropout
    DropoutMask mask;         // as P
    RowSum *sums;             // [H,n] of maps in blocks, for backward
    real *Kt, *Vt, *Pd, *dP;  // scratch of one block (head.h)
    real *guide;  // NULL, or for each sentence a map of the links G that head 0 learns
    /* the gradients of every head, which KEEP_GRADIENTS keeps; NULL in training */
    HeadRows kept;            // dQ, dO [n,D]   dK, dV [m,D]
    real *kept_dP, *kept_dS;  // as P
} Attention;

/* The scale of a head's scores: 1 / √dh in scaled dot-product attention. */
real attention_scale(const ModelConfig *config, const AttentionWeights *w, int head);

/* Where in P the attention weights of a head begin, [n,head_width(m)], and in kept_dP and kept_dS
 * their gradient and that of the scores. Only of a map that was kept (attention_layout). */
size_t attention_map_at(const Attention *a, int sentence, int head);

/* Takes the buffers for these sentences. keys: NULL for self-attention, whose keys are the rows
 * of the queries. training: takes the scratch of backward too. block: a map of more numbers is
 * computed a block of rows at a time, again in backward, and is not kept; SIZE_MAX keeps all. */
void attention_layout(Attention *a, Arena *arena, const ModelConfig *config,
                      const Packed *queries, const Packed *keys, bool causal,
                      const Dropout *dropout, uint32_t place, bool training, size_t block);

/* After attention_layout, when training: backward then fills a->kept, kept_dP and kept_dS. */
void attention_keep(Attention *a, Arena *arena);

/* Y [n,D] (=)
 * Xq [n,D] input of the queries   Xkv [m,D] input of keys and values; NULL: self-attention, Xq
 * Xq and Xkv must remain until backward. */
void attention_forward(real *Y, Attention *a, const real *Xq, const real *Xkv,
                       const AttentionWeights *w);

/* dXq [n,D] (q_mode)   dXkv [m,D] (kv_mode), not used for self-attention   dw (+=)
 * scratch [2(n+m),D]   dY [n,D] */
void attention_backward(GemmMode q_mode, real *dXq, GemmMode kv_mode, real *dXkv,
                        AttentionWeights *dw, real *scratch, const real *dY, const Attention *a,
                        const AttentionWeights *w);
