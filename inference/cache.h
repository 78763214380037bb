/* cache.h -- the decoder one step at a time, for all live hypotheses of a batch of sentences.
 *
 * Hypotheses share their beginnings, so they are kept as what they are, a forest: a node is one
 * row that went through the decoder, with its input token, its parent, and in every layer the key
 * and the value that later rows ask for.
 *
 *     <pad> ── the ── old ── man          a node a row; a hypothesis is a prefix:
 *                 └── cat                 a parent node and one token more
 *
 * A row of keys and values is written once, and choosing hypotheses moves nothing: a step walks
 * from each parent up to the root, which gives the places of its keys. Nodes are numbered as they
 * come, so the rows of one step are neighbours, and a hypothesis that has ended leaves no row. */
#ifndef INFERENCE_CACHE_H
#define INFERENCE_CACHE_H

#include "inference/encoded.h"

enum { NO_NODE = -1 };

/* A hypothesis that goes on: what `parent` had read, and one token more. */
typedef struct Prefix {
    int sentence;  // of the source
    int parent;    // a node; NO_NODE at the first step
    int token;     // <pad> at the first step
} Prefix;

typedef struct Cache {
    Encoded encoded;
    int rows;      // the most in a step
    int steps;     // the most
    int capacity;  // nodes
    int step;      // done so far
    int nodes;     // so far
    int *parent;   // [capacity]
    int *token;    // [capacity] what the node read
    int *first;    // [steps+1] the first node of each step, and what comes behind the last

    int *id, *start;  // [rows] [rows+1] the rows of a step as sentences of one token
    int *path;        // [rows,steps] each row's nodes, from the root to its own
    real *X, *F;      // [rows,D] embedded; what a sublayer adds
    real *QKV, *O;    // [rows,3D] [rows,D]
    real *P;          // scores and probabilities of one row, or of one sentence and head
    AddNorm norm_first, self_norm, cross_norm, final_norm;
    FeedforwardSaved ffn;

    /* A step behind the other, in each [layers,rows of the step,2D]: keys and values. The last of
     * all, and filled from the front: what no hypothesis grows into is never touched. */
    real *KV;  // [capacity · layers,2D]
} Cache;

/* Takes the buffers: for steps of at most `rows` prefixes, at most `steps` of them, and `capacity`
 * rows in all. Measures if the arena is a measuring one. */
void cache_layout(Cache *cache, Arena *arena, const Transformer *model, const Packed *source,
                  int rows, int steps, int capacity);

/* Bytes that one more node takes. */
size_t cache_node_bytes(const ModelConfig *config);

/* Encodes the source and keeps its keys and values; the forest is empty then. */
void cache_encode(Cache *cache, const Transformer *model);

/* One row through the decoder for each prefix. The prefixes of a sentence must be neighbours, and
 * all parents of the step before. Returns the decoder's output [count,D], which logits_forward
 * turns into scores; prefix i has become node cache->nodes - count + i. */
const real *cache_step(Cache *cache, const Transformer *model, const Prefix *prefix, int count);

/* id (=) the tokens that led to `node`, without <pad>. Returns how many. */
int cache_tokens(int *id, const Cache *cache, int node);

/* id [step-1] (=) the tokens that row r of the last step had read, without <pad>. */
void cache_written(int *id, const Cache *cache, int row);

#endif
