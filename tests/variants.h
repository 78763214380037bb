/* variants.h -- networks that differ in their options: each option alone, and some together. What
 * must be true of the network must be true of all of them. */
#ifndef TESTS_VARIANTS_H
#define TESTS_VARIANTS_H

#include "model/config.h"

typedef struct Variant {
    const char *name;
    int activation, norm, positions, tying;
    int more_source;  // tokens that the source's vocabulary has more than the target's
} Variant;

static const Variant variants[] = {
    {"as MarianMT", ACTIVATION_RELU, NORM_POST, POSITIONS_SINUSOIDAL, TYING_ALL, 0},
    {"GELU", ACTIVATION_GELU, NORM_POST, POSITIONS_SINUSOIDAL, TYING_ALL, 0},
    {"Swish", ACTIVATION_SWISH, NORM_POST, POSITIONS_SINUSOIDAL, TYING_ALL, 0},
    {"pre-norm", ACTIVATION_RELU, NORM_PRE, POSITIONS_SINUSOIDAL, TYING_ALL, 0},
    {"learned positions", ACTIVATION_RELU, NORM_POST, POSITIONS_LEARNED, TYING_ALL, 0},
    {"no positions", ACTIVATION_RELU, NORM_POST, POSITIONS_NONE, TYING_ALL, 0},
    {"decoder tied", ACTIVATION_RELU, NORM_POST, POSITIONS_SINUSOIDAL, TYING_DECODER, 0},
    {"nothing tied", ACTIVATION_RELU, NORM_POST, POSITIONS_SINUSOIDAL, TYING_NONE, 0},
    {"two vocabularies", ACTIVATION_RELU, NORM_POST, POSITIONS_SINUSOIDAL, TYING_DECODER, 3},
    {"pre-norm, GELU, learned positions, nothing tied, two vocabularies", ACTIVATION_GELU,
     NORM_PRE, POSITIONS_LEARNED, TYING_NONE, 5},
    {"pre-norm, Swish, no positions, decoder tied", ACTIVATION_SWISH, NORM_PRE, POSITIONS_NONE,
     TYING_DECODER, 0},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static inline ModelConfig variant_config(ModelConfig config, const Variant *variant)
{
    config.activation = variant->activation;
    config.norm = variant->norm;
    config.positions = variant->positions;
    config.tying = variant->tying;
    config.source_vocab = variant->more_source ? config.vocab + variant->more_source : 0;
    return config;
}

#endif
