/* params.c -- the table of every parameter, in the order in which it lies in memory.
 *
 * One walk over the network describes it. Given a table, the walk adds a line a tensor; given a
 * Weights and a block, it points each field into the block. Since both come from the same walk,
 * the table and the pointers cannot disagree.
 *
 * Each tensor starts at a multiple of 16 reals (a cache line of floats), except within a group
 * such as W_Q W_K W_V, whose members touch so that one product can use them as one matrix. */
#include "model/params.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"

enum { ALIGNMENT = 16 };

typedef struct Walk {
    Params *params;  // gets the lines; NULL: only point
    real *block;     // what the fields point into; NULL: only list
    size_t size;     // reals so far
    char prefix[64];
} Walk;

static void align(Walk *walk)
{
    walk->size = (walk->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* One tensor behind the last one: a matrix [rows,columns], or a vector if rows is 0. */
static void tensor(Walk *walk, real **field, const char *module, const char *suffix, int rows,
                   int columns, Initializer init)
{
    size_t count = (size_t)(rows ? rows : 1) * (size_t)columns;
    if (walk->block) *field = walk->block + walk->size;
    if (walk->params) {
        Tensor *line = &walk->params->tensor[walk->params->count++];
        *line = (Tensor){.dimensions = rows ? 2 : 1,
                         .shape = {rows ? rows : columns, rows ? columns : 0},
                         .offset = walk->size,
                         .count = count,
                         .init = init,
                         .trained = true};
        snprintf(line->name, sizeof line->name, "%s%s%s", walk->prefix, module, suffix);
    }
    walk->size += count;
}

static void linear(Walk *walk, Linear *p, const char *module, int D_out, int D_in)
{
    align(walk), tensor(walk, &p->W, module, ".weight", D_out, D_in, INIT_XAVIER);
    align(walk), tensor(walk, &p->b, module, ".bias", 0, D_out, INIT_ZERO);
}

static void norm(Walk *walk, NormWeights *p, const char *module, int D)
{
    align(walk), tensor(walk, &p->g, module, ".weight", 0, D, INIT_ONE);
    align(walk), tensor(walk, &p->b, module, ".bias", 0, D, INIT_ZERO);
}

static void attention(Walk *walk, AttentionWeights *p, const char *module, const char *out,
                      int D)
{
    align(walk);
    tensor(walk, &p->q.W, module, ".q_proj.weight", D, D, INIT_ATTENTION);
    tensor(walk, &p->k.W, module, ".k_proj.weight", D, D, INIT_ATTENTION);
    tensor(walk, &p->v.W, module, ".v_proj.weight", D, D, INIT_ATTENTION);
    align(walk);
    tensor(walk, &p->q.b, module, ".q_proj.bias", 0, D, INIT_ZERO);
    tensor(walk, &p->k.b, module, ".k_proj.bias", 0, D, INIT_ZERO);
    tensor(walk, &p->v.b, module, ".v_proj.bias", 0, D, INIT_ZERO);
    linear(walk, &p->out, out, D, D);
}

static void feedforward(Walk *walk, FeedforwardWeights *p, int D, int F)
{
    linear(walk, &p->fc1, "fc1", F, D);
    linear(walk, &p->fc2, "fc2", D, F);
}

static void network(Walk *walk, Weights *w, const ModelConfig *c)
{
    int V = c->vocab, D = c->d_model, F = c->ffn;
    tensor(walk, &w->embedding, "model.shared", ".weight", V, D, INIT_EMBEDDING);
    align(walk), tensor(walk, &w->logits_bias, "final_logits_bias", "", 1, V, INIT_ZERO);
    if (walk->params) walk->params->tensor[walk->params->count - 1].trained = c->output_bias;

    for (int l = 0; l < c->encoder_layers; l++) {
        EncoderLayerWeights *layer = &w->encoder[l];
        snprintf(walk->prefix, sizeof walk->prefix, "model.encoder.layers.%d.", l);
        attention(walk, &layer->self, "self_attn", "self_attn.out_proj", D);
        norm(walk, &layer->self_norm, "self_attn_layer_norm", D);
        feedforward(walk, &layer->ffn, D, F);
        norm(walk, &layer->final_norm, "final_layer_norm", D);
    }
    for (int l = 0; l < c->decoder_layers; l++) {
        DecoderLayerWeights *layer = &w->decoder[l];
        snprintf(walk->prefix, sizeof walk->prefix, "model.decoder.layers.%d.", l);
        attention(walk, &layer->self, "self_attn", "self_attn.out_proj", D);
        norm(walk, &layer->self_norm, "self_attn_layer_norm", D);
        attention(walk, &layer->cross, "encoder_attn", "encoder_attn.out_proj", D);
        norm(walk, &layer->cross_norm, "encoder_attn_layer_norm", D);
        feedforward(walk, &layer->ffn, D, F);
        norm(walk, &layer->final_norm, "final_layer_norm", D);
    }
    align(walk);
}

bool params_table(Params *params, const ModelConfig *config, Error *error)
{
    enum { OWN = 2, ENCODER_LAYER = 16, DECODER_LAYER = 26 };  // tensors
    int count = OWN + ENCODER_LAYER * config->encoder_layers +
                DECODER_LAYER * config->decoder_layers;
    *params = (Params){.tensor = calloc((size_t)count, sizeof(Tensor))};
    if (!params->tensor) return error_set(error, "not enough memory for the parameter table");

    Weights unused;
    Walk walk = {.params = params};
    network(&walk, &unused, config);
    assert(params->count == count);
    params->size = walk.size;
    return true;
}

void params_free(Params *params)
{
    free(params->tensor);
    *params = (Params){0};
}

void params_bind(Weights *weights, real *block, const ModelConfig *config)
{
    Walk walk = {.block = block};
    network(&walk, weights, config);
}

real *params_block(const Params *params, Error *error)
{
    size_t bytes = params->size * sizeof(real);
    real *block = block_allocate(bytes);
    if (!block) {
        error_set(error, "not enough memory for %.1f MB of parameters", (double)bytes / 1e6);
        return NULL;
    }
    memset(block, 0, bytes);
    return block;
}

/* A name's stream of random numbers: FNV-1a, 64 bits (Fowler, Noll, Vo 1991). */
static uint64_t name_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

void params_initialise(const Params *params, real *block, uint64_t seed)
{
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        real *x = block + tensor->offset;
        int out = tensor->shape[0], in = tensor->shape[1];
        Rng rng = rng_stream(seed, RNG_INIT, name_hash(tensor->name));
        double bound = sqrt(6.0 / (in + out)), deviation = 1 / sqrt(in);
        switch (tensor->init) {
        case INIT_ZERO:
            for (size_t i = 0; i < tensor->count; i++) x[i] = 0;
            break;
        case INIT_ONE:
            for (size_t i = 0; i < tensor->count; i++) x[i] = 1;
            break;
        case INIT_ATTENTION: bound *= sqrt(0.5);  // fall through
        case INIT_XAVIER:
            for (size_t i = 0; i < tensor->count; i++)
                x[i] = (real)(bound * (2 * rng_uniform(&rng) - 1));
            break;
        case INIT_EMBEDDING:
            for (size_t i = 0; i < tensor->count; i++)
                x[i] = (real)(deviation * rng_normal(&rng));
            for (int k = 0; k < in; k++) x[(size_t)(out - 1) * (size_t)in + (size_t)k] = 0;
            break;
        }
    }
}

const Tensor *params_find(const Params *params, const char *name)
{
    for (int t = 0; t < params->count; t++)
        if (!strcmp(params->tensor[t].name, name)) return &params->tensor[t];
    return NULL;
}

size_t params_trained(const Params *params)
{
    size_t count = 0;
    for (int t = 0; t < params->count; t++)
        if (params->tensor[t].trained) count += params->tensor[t].count;
    return count;
}
