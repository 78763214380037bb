/* params.h -- every parameter of the network: one block of memory, one table, one line a tensor.
 *
 * The table is what checkpoint, Adam, the gradient checks and the golden vectors iterate. Weights,
 * gradients, Adam's moments and averages are blocks of the same layout, so a tensor is at the same
 * offset in each. Names and [out,in] layout are Hugging Face's for MarianMT; in memory a large
 * matrix lies in panels (Tensor.in_panels), in files never. */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include "base/error.h"
#include "base/real.h"
#include "kernels/matrix.h"
#include "model/config.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    INIT_ZERO,
    INIT_ONE,
    INIT_XAVIER,     // uniform in ±√(6 / (in + out)): Glorot and Bengio 2010
    INIT_ATTENTION,  // the same over √2, as W_Q, W_K, W_V side by side are one [3D,D] matrix
    INIT_EMBEDDING,  // normal, deviation 1/√D; the row of <pad> is zero
    INIT_POSITIONS,  // normal, deviation 1/√D
} Initializer;

typedef struct Tensor {
    char name[128];  // "model.encoder.layers.0.self_attn.q_proj.weight"
    int dimensions;  // 1 or 2
    int shape[2];    // [out,in], or [length]
    size_t offset;   // of its first number in a block
    size_t count;    // of its numbers
    Initializer init;
    bool trained;    // false: stays as it was initialised
    bool in_panels;  // a large matrix of a layer (gemm_in_panels)
} Tensor;

typedef struct Params {
    int count;       // tensors
    Tensor *tensor;  // [count]
    size_t size;     // reals in a block, the gaps between tensors included
} Params;

typedef struct Linear {
    real *W;              // [D_out,D_in]
    real *b;              // [D_out]
    const Matrix *ready;  // W for inference (ready.h), then W itself is gone; NULL: W serves
    bool in_panels;       // W lies in panels (panels.h), and so does dW
} Linear;

typedef struct NormWeights {
    real *g;  // [D]
    real *b;  // [D]
} NormWeights;

/* W_Q, W_K and W_V are three tensors side by side, so that one product can compute all three:
 * q.W is also the [3D,D] matrix of all, k.W the [2D,D] matrix of keys and values. The same holds
 * for their biases, and for what is ready: of self-attention q's is [3D,D], of cross-attention
 * there are q's [D,D] and k's [2D,D]. */
typedef struct AttentionWeights {
    Linear q, k, v;  // [D,D] each
    Linear out;      // [D,D]
} AttentionWeights;

typedef struct FeedforwardWeights {
    Linear fc1;  // [F,D]
    Linear fc2;  // [D,F]
} FeedforwardWeights;

/* A norm is named by the sum that it stands behind (addnorm.h). In post-norm that is its name in
 * the file, too; in pre-norm the file names it by the sublayer that it stands before. */
typedef struct EncoderLayerWeights {
    AttentionWeights self;
    NormWeights self_norm;
    FeedforwardWeights ffn;
    NormWeights final_norm;
} EncoderLayerWeights;

typedef struct DecoderLayerWeights {
    AttentionWeights self;
    NormWeights self_norm;
    AttentionWeights cross;
    NormWeights cross_norm;
    FeedforwardWeights ffn;
    NormWeights final_norm;
} DecoderLayerWeights;

enum { MAX_LAYERS = 64 };

/* Where each tensor lies in one block: the same struct over the weights and over the gradients. */
typedef struct Weights {
    real *source_embedding;  // [config_source_vocab,D]
    real *target_embedding;  // [V,D]
    real *output;            // [V,D]; --tying says which of the three are one
    real *logits_bias;       // [V]
    const Matrix *ready_source, *ready_target;  // embeddings, to look up rows; NULL: as above
    const Matrix *ready_output;                 // to multiply by; NULL: as above
    real *source_positions, *target_positions;  // [max_length,D] if learned, else NULL
    NormWeights encoder_first, decoder_first;   // before the first sublayer, in pre-norm
    EncoderLayerWeights encoder[MAX_LAYERS];
    DecoderLayerWeights decoder[MAX_LAYERS];
} Weights;

/* The table for a configuration that config_check accepts. */
bool params_table(Params *params, const ModelConfig *config, Error *error);
void params_free(Params *params);

/* Points every field of weights into a block of params->size reals. */
void params_bind(Weights *weights, real *block, const ModelConfig *config);

/* A block of zeros that are in memory already, so that no timed update waits for them; aligned to
 * a cache line; free() it. NULL if memory is short. */
real *params_block(const Params *params, Error *error);

/* Fills a block with the initial values, a function of the seed and each tensor's name alone. */
void params_initialise(const Params *params, real *block, uint64_t seed);

/* x [tensor->count] (=) the initial values of one tensor, row by row. */
void params_initial_rows(real *x, const Tensor *tensor, uint64_t seed);

/* x [tensor->count] (=) a tensor of a block, row by row. */
void params_rows(real *x, const Tensor *tensor, const real *block);

const Tensor *params_find(const Params *params, const char *name);  // or NULL
size_t params_trained(const Params *params);  // how many numbers are learned

#endif
