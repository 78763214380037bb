/* params.c -- the table of every parameter, in the order in which it lies in memory.
 *
 * One walk over the network describes it. Given a table, the walk fills a line a tensor; given a
 * Weights and a block, it points each field into the block. Since both come from the same walk,
 * the table and the pointers cannot disagree.
 *
 * Each tensor starts at a multiple of 16 reals (a cache line of floats), except within a group
 * such as W_Q W_K W_V, whose members touch so that one product can use them as one matrix. */
#include "model/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/rng.h"
#include "kernels/gemm.h"

enum { ALIGNMENT = 16 };

typedef struct Walk {
    Tensor *tensor;  // gets the lines; NULL: only count and point
    real *block;     // what the fields point into; NULL: only list
    int count;       // tensors so far
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
    if (walk->tensor) {
        Tensor *line = &walk->tensor[walk->count];
        *line = (Tensor){.dimensions = rows ? 2 : 1,
                         .shape = {rows ? rows : columns, rows ? columns : 0},
                         .offset = walk->size,
                         .count = count,
                         .init = init,
                         .trained = true};
        snprintf(line->name, sizeof line->name, "%s%s%s", walk->prefix, module, suffix);
    }
    walk->count++;
    walk->size += count;
}

/* The matrix of a layer. */
static void matrix(Walk *walk, Linear *p, const char *module, const char *suffix, int D_out,
                   int D_in, Initializer init)
{
    tensor(walk, &p->W, module, suffix, D_out, D_in, init);
    p->ready = NULL;
    p->in_panels = gemm_in_panels(D_out, D_in);
    if (walk->tensor) walk->tensor[walk->count - 1].in_panels = p->in_panels;
}

static void linear(Walk *walk, Linear *p, const char *module, int D_out, int D_in)
{
    align(walk), matrix(walk, p, module, ".weight", D_out, D_in, INIT_XAVIER);
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
    matrix(walk, &p->q, module, ".q_proj.weight", D, D, INIT_ATTENTION);
    matrix(walk, &p->k, module, ".k_proj.weight", D, D, INIT_ATTENTION);
    matrix(walk, &p->v, module, ".v_proj.weight", D, D, INIT_ATTENTION);
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

/* Which of a layer's norms stands behind which sum depends on the order: in pre-norm a sublayer's
 * own norm stands before it, behind the sum of the sublayer before it. For the first one that is
 * in the layer below: `under`. */
static void encoder_layer(Walk *walk, EncoderLayerWeights *layer, NormWeights *under,
                          const ModelConfig *c)
{
    bool pre = c->norm == NORM_PRE;
    attention(walk, &layer->self, "self_attn", "self_attn.out_proj", c->d_model);
    norm(walk, pre ? under : &layer->self_norm, "self_attn_layer_norm", c->d_model);
    feedforward(walk, &layer->ffn, c->d_model, c->ffn);
    norm(walk, pre ? &layer->self_norm : &layer->final_norm, "final_layer_norm", c->d_model);
}

static void decoder_layer(Walk *walk, DecoderLayerWeights *layer, NormWeights *under,
                          const ModelConfig *c)
{
    bool pre = c->norm == NORM_PRE;
    attention(walk, &layer->self, "self_attn", "self_attn.out_proj", c->d_model);
    norm(walk, pre ? under : &layer->self_norm, "self_attn_layer_norm", c->d_model);
    attention(walk, &layer->cross, "encoder_attn", "encoder_attn.out_proj", c->d_model);
    norm(walk, pre ? &layer->self_norm : &layer->cross_norm, "encoder_attn_layer_norm",
         c->d_model);
    feedforward(walk, &layer->ffn, c->d_model, c->ffn);
    norm(walk, pre ? &layer->cross_norm : &layer->final_norm, "final_layer_norm", c->d_model);
}

/* One matrix used three times, or two, or three matrices. */
static void embeddings(Walk *walk, Weights *w, const ModelConfig *c)
{
    int V = c->vocab, D = c->d_model;
    w->ready_source = w->ready_target = w->ready_output = NULL;
    if (c->tying == TYING_ALL) {
        tensor(walk, &w->source_embedding, "model.shared", ".weight", V, D, INIT_EMBEDDING);
        w->target_embedding = w->output = w->source_embedding;
        return;
    }
    tensor(walk, &w->source_embedding, "model.encoder.embed_tokens", ".weight",
           config_source_vocab(c), D, INIT_EMBEDDING);
    align(walk);
    tensor(walk, &w->target_embedding, "model.decoder.embed_tokens", ".weight", V, D,
           INIT_EMBEDDING);
    w->output = w->target_embedding;
    if (c->tying == TYING_DECODER) return;
    align(walk), tensor(walk, &w->output, "lm_head", ".weight", V, D, INIT_EMBEDDING);
}

static void positions(Walk *walk, Weights *w, const ModelConfig *c)
{
    w->source_positions = w->target_positions = NULL;
    if (c->positions != POSITIONS_LEARNED) return;
    align(walk);
    tensor(walk, &w->source_positions, "model.encoder.embed_positions", ".weight",
           c->max_length, c->d_model, INIT_POSITIONS);
    align(walk);
    tensor(walk, &w->target_positions, "model.decoder.embed_positions", ".weight",
           c->max_length, c->d_model, INIT_POSITIONS);
}

static void network(Walk *walk, Weights *w, const ModelConfig *c)
{
    int V = c->vocab, D = c->d_model;
    embeddings(walk, w, c);
    align(walk), tensor(walk, &w->logits_bias, "final_logits_bias", "", 1, V, INIT_ZERO);
    if (walk->tensor) walk->tensor[walk->count - 1].trained = c->output_bias;
    positions(walk, w, c);

    NormWeights *under = &w->encoder_first;
    for (int l = 0; l < c->encoder_layers; l++, under = &w->encoder[l - 1].final_norm) {
        snprintf(walk->prefix, sizeof walk->prefix, "model.encoder.layers.%d.", l);
        encoder_layer(walk, &w->encoder[l], under, c);
    }
    snprintf(walk->prefix, sizeof walk->prefix, "model.encoder.");
    if (c->norm == NORM_PRE) norm(walk, under, "layer_norm", D);

    under = &w->decoder_first;
    for (int l = 0; l < c->decoder_layers; l++, under = &w->decoder[l - 1].final_norm) {
        snprintf(walk->prefix, sizeof walk->prefix, "model.decoder.layers.%d.", l);
        decoder_layer(walk, &w->decoder[l], under, c);
    }
    snprintf(walk->prefix, sizeof walk->prefix, "model.decoder.");
    if (c->norm == NORM_PRE) norm(walk, under, "layer_norm", D);
    align(walk);
}

bool params_table(Params *params, const ModelConfig *config, Error *error)
{
    Weights unused = {0};
    Walk count = {0}, list = {0};
    network(&count, &unused, config);
    *params = (Params){.tensor = calloc((size_t)count.count, sizeof(Tensor))};
    if (!params->tensor) return error_set(error, "not enough memory for the parameter table");

    list.tensor = params->tensor;
    network(&list, &unused, config);
    params->count = list.count;
    params->size = list.size;
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
    if (block) return memset(block, 0, bytes);
    error_set(error, "not enough memory for %.1f MB of parameters", (double)bytes / 1e6);
    return NULL;
}

void params_initial_rows(real *x, const Tensor *tensor, uint64_t seed)
{
    int out = tensor->shape[0], in = tensor->shape[1];
    uint64_t stream = hash_bytes(HASH_START, tensor->name, strlen(tensor->name));
    Rng rng = rng_stream(seed, RNG_INIT, stream);
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
    case INIT_POSITIONS:
        for (size_t i = 0; i < tensor->count; i++) x[i] = (real)(deviation * rng_normal(&rng));
        if (tensor->init == INIT_POSITIONS) break;
        for (int k = 0; k < in; k++) x[(size_t)(out - 1) * (size_t)in + (size_t)k] = 0;
        break;
    }
}

void params_initialise(const Params *params, real *block, uint64_t seed)
{
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        real *x = block + tensor->offset;
        params_initial_rows(x, tensor, seed);
        if (tensor->in_panels) panels_pack_in_place(x, tensor->shape[0], tensor->shape[1]);
    }
}

void params_rows(real *x, const Tensor *tensor, const real *block)
{
    const real *from = block + tensor->offset;
    if (tensor->in_panels) panels_unpack(x, from, tensor->shape[0], tensor->shape[1]);
    else memcpy(x, from, tensor->count * sizeof *x);
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
