/* stack.h -- the ways in which a whole stack of layers is checked, the encoder's and the decoder's. */
#ifndef TESTS_GRADIENTS_STACK_H
#define TESTS_GRADIENTS_STACK_H

#include "model/config.h"
#include "model/dropout.h"
#include "tests/gradients/check.h"

/* Of the case that is checked, which sets how many layers its own stack has. */
static ModelConfig config = {.vocab = 11,
                             .d_model = 6,
                             .heads = 2,
                             .ffn = 10,
                             .encoder_layers = 1,
                             .decoder_layers = 1,
                             .max_length = 8};

/* Each norm with and without dropout, and another activation. */
static inline void check_stack(const char *stack, void (*check)(const char *, const Dropout *))
{
    static const Dropout dropout = {
        .residual = 0.2, .activation = 0.1, .attention = 0.3, .seed = 5, .update = 2};
    static const struct {
        const char *what;
        int norm, activation;
        const Dropout *dropout;
    } cases[] = {
        {"", NORM_POST, ACTIVATION_RELU, NULL},
        {", dropout", NORM_POST, ACTIVATION_RELU, &dropout},
        {", pre-norm", NORM_PRE, ACTIVATION_RELU, NULL},
        {", pre-norm, dropout", NORM_PRE, ACTIVATION_RELU, &dropout},
        {", pre-norm, GELU, dropout", NORM_PRE, ACTIVATION_GELU, &dropout},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", stack, cases[i].what);
        config.norm = cases[i].norm, config.activation = cases[i].activation;
        check(name, cases[i].dropout);
        check_teardown(NULL);
    }
}

#endif
