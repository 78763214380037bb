/* cache.h -- the key-value cache: one step of the decoder for all live hypotheses of a batch.
 *
 * Hypotheses share their beginnings, so they are stored as a forest. A node is one row that
 * went through the decoder: its input token, its parent, and its key and value in every layer.
 * A hypothesis is a prefix: a parent node and one more token.
 *
 *     <pad> ── the ── old ── man
 *                 └── cat
 *
 * A key and a value are written once, and choosing hypotheses moves nothing: a step follows the
 * parents up to the root, which gives the places of the keys. The nodes of one step are
 * numbered consecutively, and a hypothesis that has ended takes no row. */
#pragma once

#include "model/transformer.h"

enum { NO_NODE = -1 };

/* A hypothesis to extend: the path to `parent`, and one more token. */
typedef struct Prefix {
    int sentence;  // of the source
    int parent;    // a node; NO_NODE at the first step
    int token;     // <pad> at the first step

    int search;              // which of the batch's searches it belongs to
    double log_probability;  // of the tokens, in nats; only the searches use these two
} Prefix;

typedef struct Cache {
    const Packed *source;
    /* Encoder-decoder attention's keys of each sentence (keys_at): [D,width], as columns, the
     * heads one after another; [n,D] if the score function is no product. And its values, [N,D]. */
    real *K[MAX_LAYERS], *V[MAX_LAYERS];
    Arena slice_memory;  // for the encoder's pass over a slice

    int rows;                 // largest number in a step
    int steps;                // largest number
    int capacity;             // largest number of nodes
    int step;                 // steps done
    int nodes;                // nodes in use
    int *parent;              // [capacity]
    int *token;               // [capacity] the node's input
    double *log_probability;  // [capacity] of the tokens up to it (Prefix)
    int *first;               // [steps+1] the first node of each step, and the end of the last

    int *id, *start;     // [rows] [rows+1] the rows of a step as sentences of one token
    int *path;           // [rows,steps] each row's nodes, from the root to its own
    real *X, *F;         // [rows,D] embeddings; output of a sublayer
    real *QKV, *O;       // [rows,3D] [rows,D]
    real *P;             // attention weights of one row, or of one sentence and head
    const real **value;  // the values that one row attends to
    AddNorm self_norm, cross_norm, final_norm;
    LayerNormSaved norm_last;  // pre-norm only
    FeedforwardSaved ffn;

    /* Keys and values, [layers,rows of the step,2D] for each step. It is the last buffer and is
     * filled from the front, so that the part that no hypothesis reaches is never touched. */
    real *KV;  // [capacity · layers,2D]
} Cache;

/* Takes the buffers for at most `steps` steps of at most `rows` prefixes, and `capacity` rows
 * in all, or measures them (arena.h). */
void cache_layout(Cache *cache, Arena *arena, const Transformer *model, const Packed *source,
                  int rows, int steps, int capacity);

/* Memory of one node. */
size_t cache_node_bytes(const ModelConfig *config);

/* Encodes the source, keeps its keys and values, and empties the forest. */
void cache_encode(Cache *cache, const Transformer *model);

/* Runs the decoder over one row for each prefix. The prefixes of a sentence must be
 * consecutive, and all parents nodes of the step before. Returns the decoder's output
 * [count,D], the input of logits_row. Prefix i becomes node cache->nodes - count + i. */
const real *cache_step(Cache *cache, const Transformer *model, const Prefix *prefix, int count);

/* id (=) the tokens from the root to `node`, without <pad>. Returns their number. */
int cache_tokens(int *id, const Cache *cache, int node);

/* A hypothesis of `log_probability` that ends after `node`: id [n] (=) its tokens with </s>,
 * each [n] (=) ln p of each. Returns n. */
int cache_hypothesis(int *id, double *each, const Cache *cache, int node,
                     double log_probability);
