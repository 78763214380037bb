/* params.h -- every parameter of the network: one block of memory and one table, a line for
 * each tensor.
 *
 * The checkpoint, Adam, the gradient checks and the golden vectors iterate the table. Weights,
 * gradients, Adam's moments and averages are blocks of the same layout, so a tensor has the
 * same offset in each. Names and [out,in] shapes are Hugging Face's for MarianMT. */
#pragma once

#include "base/error.h"
#include "base/real.h"
#include "kernels/matrix.h"
#include "model/config.h"

typedef enum {
    INIT_ZERO,
    INIT_ONE,
    INIT_XAVIER,     // uniform in ±√(6 / (in + out)): Glorot and Bengio 2010
    INIT_ATTENTION,  // the same over √2, as W_Q, W_K, W_V side by side are one [3D,D] matrix
    INIT_IDENTITY,
    INIT_SCORE,      // what the score function begins with: Tensor.value
    INIT_EMBEDDING,  // normal, deviation 1/√D; the row of <pad> is zero
    INIT_POSITIONS,  // normal, deviation 1/√D
} Initializer;

/* What it is to the optimiser (training/optimizer.c): weight decay is not for vectors, Muon for
 * matrices alone. */
typedef enum {
    TENSOR_VECTOR,    // a bias, a gain, scales of scores
    TENSOR_MATRIX,    // of a layer
    TENSOR_EMBEDDING  // of tokens, also as output layer, or of positions
} TensorKind;

typedef struct Tensor {
    char name[128];  // "model.encoder.layers.0.self_attn.q_proj.weight"
    TensorKind kind;
    int dimensions;  // 1 or 2
    int shape[2];    // [out,in], or [length]
    size_t offset;   // of its first number in a block
    size_t count;    // of its numbers
    Initializer init;
    real value;    // for INIT_SCORE: of every number
    bool trained;  // false: stays as it was initialised, or is a copy
    bool copy;     // of the tensor before it, which is trained: always equal to it
    bool frozen;   // training does not change it, though it may have a gradient
} Tensor;

typedef struct Params {
    int count;       // tensors
    Tensor *tensor;  // [count]
    size_t size;     // reals in a block, the gaps between tensors included
} Params;

typedef struct Linear {
    Matrix W;  // [D_out,D_in]
    real *b;   // [D_out]
} Linear;

typedef struct NormWeights {
    real *g;  // [D]
    real *b;  // [D]
} NormWeights;

/* W_Q, W_K and W_V are three tensors side by side, so that one product can compute all three:
 * q.W is also the [3D,D] matrix of all, k.W the [2D,D] matrix of keys and values; likewise
 * their biases. Prepared for inference (quantised.h), self-attention has only q.W [3D,D], and
 * cross-attention q.W [D,D] and k.W [2D,D]. */
typedef struct AttentionWeights {
    Linear q, k, v;  // [D,D] each
    Linear out;      // [D,D]
    real *scale;     // [H] of the scores, if it is learned (scorefunction.h), else NULL
} AttentionWeights;

typedef struct FeedforwardWeights {
    Linear fc1;  // [F,D]
    Linear fc2;  // [D,F]
} FeedforwardWeights;

/* A norm is that of the sublayer before it in this struct: it stands before it, or after it
 * (addnorm.h). */
typedef struct LayerWeights {
    AttentionWeights self;
    NormWeights self_norm;
    AttentionWeights cross;  // decoder only, as its norm
    NormWeights cross_norm;
    FeedforwardWeights ffn;
    NormWeights final_norm;
} LayerWeights;

/* Pointers to each tensor of one block: the same struct over the weights and over the
 * gradients. */
typedef struct Weights {
    Matrix source_embedding;  // [config_source_vocab,D]
    Matrix target_embedding;  // [V,D]
    Matrix output;            // [V,D]; `tying` says which of the three are one
    real *logits_bias;        // [V]
    real *source_positions, *target_positions;  // [max_length,D], or NULL (transformer.h)
    NormWeights encoder_last, decoder_last;     // behind the last layer, in pre-norm
    LayerWeights encoder[MAX_LAYERS], decoder[MAX_LAYERS];
} Weights;

/* The table for a configuration that config_check accepts. */
bool params_table(Params *params, const ModelConfig *config, Error *error);
void params_free(Params *params);

/* Points every field of weights into a block of params->size reals. */
void params_bind(Weights *weights, real *block, const ModelConfig *config);

/* The initial values, a function of the seed and each tensor's name alone. */
void params_initialise(const Params *params, real *block, uint64_t seed);

/* Parts of the network. The decoder includes the output layer; the embeddings are those of
 * tokens and, if learned, of positions. A matrix that is both an embedding and the output layer
 * is an embedding. */
enum { PART_ENCODER = 1, PART_DECODER = 2, PART_EMBEDDINGS = 4, PART_ALL = 7 };

/* Both a tensor and its copy get the sum of their gradients, so that they stay equal. */
void params_share(const Params *params, real *gradient);

/* Freezes the tensors of these parts, a sum of PART_…. */
void params_freeze(Params *params, unsigned parts);

size_t params_trained(const Params *params);  // how many numbers are learned

/* ---- prepared for inference (quantised.h) ---- */

/* The matrices of a network that only translates, in memory of their own. */
typedef struct PreparedMatrix {
    Matrix W;
    int rows, columns;
    size_t offset;     // in a block, of the tensors that it replaces
    Matrix *original;  // in the network's Weights
} PreparedMatrix;

typedef struct Prepared {
    int count;               // 0: the network is not prepared
    PreparedMatrix *matrix;  // [count]
    Arena arena;             // their numbers
} Prepared;

void prepared_free(Prepared *prepared);
