/* config.h -- the shape of a network.
 *
 * The defaults are MarianMT's family: post-norm, biases everywhere, sinusoidal positions, one
 * embedding for source, target and output. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "base/error.h"
#include "base/options.h"

/* How well a query and a key agree, before the softmax. */
typedef enum { SCORE_SCALED_DOT } Score;  // q·k / √dh   (Vaswani et al. 2017, §3.2.1)

typedef struct ModelConfig {
    int vocab;           // V, <pad> included
    int d_model;         // D
    int heads;           // H, divides D
    int ffn;             // F
    int encoder_layers;  // L of the encoder
    int decoder_layers;  // L of the decoder
    int max_length;      // tokens of a sentence, </s> included
    int score;           // a Score
    bool output_bias;    // learn final_logits_bias, or leave it zero
} ModelConfig;

/* The table behind --help, the command line and config.json. `vocab` is not in it: it follows
 * from the tokenizer. */
extern const Option model_options[];
extern const int model_option_count;

/* Whether the numbers fit each other; if not, says which option to change. */
bool config_check(const ModelConfig *config, Error *error);

#endif
