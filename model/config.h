/* config.h -- the shape of a network.
 *
 * The first of each choice is the default, and 0: together they are MarianMT's family,
 * post-norm, biases everywhere, ReLU, sinusoidal positions, one embedding for source, target
 * and output. A configuration that does not mention a choice means its default. */
#pragma once

#include "base/error.h"
#include "base/options.h"

#include "model/scorefunction.h"

/* Which of W_Q, W_K and W_V are one matrix, and so their biases; or whether all three are the
 * identity, without biases: Q = K = V = X. */
typedef enum {
    PROJECTIONS_SEPARATE,
    PROJECTIONS_QK_SHARED,
    PROJECTIONS_KV_SHARED,
    PROJECTIONS_NONE
} ProjectionSharing;

/* What the feed-forward network does between its two matrices (activation.h). */
typedef enum { ACTIVATION_RELU, ACTIVATION_GELU, ACTIVATION_SWISH } Activation;

/* The place of a sublayer's norm: after the residual sum, or before the sublayer
 * (addnorm.h). */
typedef enum { NORM_POST, NORM_PRE } Norm;

/* How the network is told the position of a token in its sentence (embedding.h). */
typedef enum { POSITIONS_SINUSOIDAL, POSITIONS_LEARNED, POSITIONS_NONE } Positions;

/* Which of source embedding, target embedding and output layer are one matrix: all three; the
 * last two; none. */
typedef enum { TYING_ALL, TYING_DECODER, TYING_NONE } Tying;

/* What the factors of matrix products are rounded to in training (kernels/bf16.h). */
typedef enum { PRECISION_FLOAT, PRECISION_BF16 } Precision;
extern const char *const precision_names[];  // NULL at the end

enum { MAX_LAYERS = 64, MAX_D_MODEL = 8192 };  // layers: of each stack

typedef struct ModelConfig {
    int vocab;            // V of the target and of the output, <pad> included
    int source_vocab;     // of the source, <pad> included; 0: the same vocabulary, V
    int d_model;          // D
    int heads;            // H, divides D
    int ffn;              // F
    int encoder_layers;   // L of the encoder
    int decoder_layers;   // L of the decoder
    int max_length;       // tokens of a sentence, </s> included
    int attention_score;  // a Score (scorefunction.h)
    int projections;      // a ProjectionSharing
    int activation;       // an Activation
    int norm;             // a Norm
    int positions;        // a Positions
    int tying;            // a Tying
    int precision;        // a Precision: of a training, not of the model it makes
    bool output_bias;     // learn final_logits_bias, or leave it zero
} ModelConfig;

/* The table behind --help, the command line and config.json. `vocab` and `source_vocab` are not
 * in it: they follow from the tokenizers; nor is `precision`, an option of training. */
extern const Option model_options[];
extern const int model_option_count;

/* Prints a line "name value" for each option. */
void config_print(FILE *out, const ModelConfig *config);

/* Rows of the source's embedding: source_vocab, or vocab where that is 0. */
int config_source_vocab(const ModelConfig *config);

/* Whether the options fit each other; if not, the error names the one to change. */
bool config_check(const ModelConfig *config, Error *error);
