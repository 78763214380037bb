/* config.h -- the shape of a network.
 *
 * The first of each choice is the default, and 0: together they are MarianMT's family, post-norm,
 * biases everywhere, ReLU, sinusoidal positions, one embedding for source, target and output. A
 * configuration that does not mention a choice means its default. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "base/error.h"
#include "base/options.h"

/* How well a query and a key agree, before the softmax. */
typedef enum { SCORE_SCALED_DOT } Score;  // q·k / √dh   (Vaswani et al. 2017, §3.2.1)

/* What the feed-forward network does between its two matrices (activation.h). */
typedef enum { ACTIVATION_RELU, ACTIVATION_GELU, ACTIVATION_SWISH } Activation;

/* Where a sublayer's norm stands: behind the residual sum, or before the sublayer (addnorm.h). */
typedef enum { NORM_POST, NORM_PRE } Norm;

typedef struct ModelConfig {
    int vocab;           // V, <pad> included
    int d_model;         // D
    int heads;           // H, divides D
    int ffn;             // F
    int encoder_layers;  // L of the encoder
    int decoder_layers;  // L of the decoder
    int max_length;      // tokens of a sentence, </s> included
    int score;           // a Score
    int activation;      // an Activation
    int norm;            // a Norm
    bool output_bias;    // learn final_logits_bias, or leave it zero
} ModelConfig;

/* The table behind --help, the command line and config.json. `vocab` is not in it: it follows
 * from the tokenizer. */
extern const Option model_options[];
extern const int model_option_count;

/* Whether the numbers fit each other; if not, says which option to change. */
bool config_check(const ModelConfig *config, Error *error);

#endif
