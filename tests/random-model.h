/* random-model.h -- a small network with random numbers in every tensor, for the tests of
 * inference. As it is initialised, such a network says one token over and over: attention that is
 * nearly uniform adds the same vector to every row. So here attention is sharp and adds little,
 * positions are random and large, and biases and gains are not their initial 0 and 1. Then a
 * sentence of 40 tokens has 6 different ones. */
#ifndef TESTS_RANDOM_MODEL_H
#define TESTS_RANDOM_MODEL_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/transformer.h"
#include "tests/variants.h"

/* x [count] (=) 3 · normal */
static inline void random_positions(real *x, size_t count, uint64_t seed)
{
    Rng rng = rng_stream(seed, RNG_TEST, 999);
    for (size_t i = 0; i < count; i++) x[i] = (real)(3 * rng_normal(&rng));
}

static inline Transformer random_variant(const Variant *variant, int V, int max_length,
                                         uint64_t seed)
{
    ModelConfig config = variant_config((ModelConfig){.vocab = V,
                                                      .d_model = 48,
                                                      .heads = 3,
                                                      .ffn = 40,
                                                      .encoder_layers = 2,
                                                      .decoder_layers = 3,
                                                      .max_length = max_length,
                                                      .output_bias = true},
                                        variant);
    Transformer model;
    Error error;
    if (!transformer_create(&model, &config, &error)) abort();
    params_initialise(&model.params, model.block, seed);
    for (int t = 0; t < model.params.count; t++) {
        const Tensor *tensor = &model.params.tensor[t];
        double scale = 1;
        if (tensor->init == INIT_EMBEDDING) scale = 2;
        if (tensor->init == INIT_ATTENTION) scale = 2;
        if (strstr(tensor->name, "out_proj.weight")) scale = 0.3;
        Rng rng = rng_stream(seed, RNG_TEST, (uint64_t)t);
        for (size_t i = 0; i < tensor->count; i++) {
            real *x = &model.block[tensor->offset + i];
            *x = (real)(scale * (*x + 0.05 * rng_normal(&rng)));
            if (tensor->init == INIT_ONE && rng_word(&rng) % 2) *x = -*x;
        }
    }
    size_t places = (size_t)max_length * (size_t)config.d_model;
    if (model.sinusoids) random_positions(model.sinusoids, places, seed);
    if (config.positions == POSITIONS_LEARNED) {
        random_positions(model.weights.source_positions, places, seed);
        random_positions(model.weights.target_positions, places, seed + 1);
    }
    for (int k = 0; k < config.d_model; k++)
        model.weights.target_embedding[(V - 1) * config.d_model + k] = 0;
    return model;
}

static inline Transformer random_model(int V, int max_length, uint64_t seed)
{
    return random_variant(&variants[0], V, max_length, seed);
}

/* Sentences of 1 .. longest tokens, the first of them empty but for its </s>. free(rows.id) and
 * free(rows.start). */
static inline Packed random_sentences(int sentences, int longest, int V, uint64_t seed)
{
    int *id = malloc((size_t)sentences * (size_t)longest * sizeof *id);
    int *start = malloc(((size_t)sentences + 1) * sizeof *start), rows = 0;
    if (!id || !start) abort();
    Rng rng = rng_stream(seed, RNG_TEST, 1000);
    for (int s = 0; s < sentences; s++) {
        int length = s == 0 ? 1 : 1 + (int)rng_below(&rng, (uint32_t)longest);
        start[s] = rows;
        for (int t = 1; t < length; t++) id[rows++] = 1 + (int)rng_below(&rng, (uint32_t)V - 2);
        id[rows++] = ID_END;
    }
    start[sentences] = rows;
    return (Packed){sentences, rows, id, start};
}

static inline void free_sentences(Packed rows)
{
    free((void *)(uintptr_t)rows.id);
    free((void *)(uintptr_t)rows.start);
}

/* The whole-sentence pass; returns its output [M,D], which lies in the arena. */
static inline const real *forced_pass(Arena *arena, const Transformer *model,
                                      const Packed *source, const Packed *target)
{
    Pass *pass = calloc(1, sizeof *pass);
    Error error;
    *arena = (Arena){0};
    if (!pass) abort();
    transformer_layout(pass, arena, model, source, target, NULL, PASS_SCORE);
    if (!arena_reserve(arena, &error)) abort();
    transformer_layout(pass, arena, model, source, target, NULL, PASS_SCORE);
    transformer_forward(pass, model);
    const real *output = pass->output;
    free(pass);
    return output;
}

#endif
