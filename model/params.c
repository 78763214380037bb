/* params.c -- the table of every parameter, in the order of memory.
 *
 * network() describes it once, tensor by tensor. Given a table, it fills a line a tensor; given
 * a Weights and a block, it points each field into the block. So the table and the pointers
 * cannot disagree.
 *
 * Each tensor starts at a multiple of 16 reals (a cache line of floats), except within a group
 * such as W_Q W_K W_V, whose members touch so that one product can use them as one matrix. */
#include "model/params.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/rng.h"

enum { ALIGNMENT = 16 };

typedef struct Listing {
    Tensor *tensor;  // gets the lines; NULL: only count and point
    Tensor unused;   // gets them then
    real *block;     // what the fields point into; NULL: only list
    int count;       // tensors so far
    size_t size;     // reals so far
    bool bf16;       // products round to bfloat16
    char prefix[64];
} Listing;

static void align(Listing *list)
{
    list->size = (list->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The next tensor: a matrix [rows,columns], or a vector if rows is 0. */
static Tensor *tensor(Listing *list, real **field, const char *module, const char *suffix,
                      int rows, int columns, Initializer init)
{
    Tensor *line = list->tensor ? &list->tensor[list->count] : &list->unused;
    if (list->block) *field = list->block + list->size;
    *line = (Tensor){.dimensions = rows ? 2 : 1,
                     .shape = {rows ? rows : columns, rows ? columns : 0},
                     .offset = list->size,
                     .count = (size_t)(rows ? rows : 1) * (size_t)columns,
                     .init = init,
                     .trained = true};
    snprintf(line->name, sizeof line->name, "%s%s%s", list->prefix, module, suffix);
    list->count++;
    list->size += line->count;
    return line;
}

/* The matrix of a layer, if the caller does not change its kind. */
static Tensor *matrix(Listing *list, Matrix *W, const char *module, const char *suffix,
                      int D_out, int D_in, Initializer init)
{
    *W = (Matrix){.mode = list->bf16 ? BF16 : SET};
    Tensor *line = tensor(list, &W->at, module, suffix, D_out, D_in, init);
    line->kind = TENSOR_MATRIX;
    return line;
}

/* Of W_Q, W_K and W_V, or of their biases, number i. */
static void projection(Tensor *line, int i, int projections)
{
    bool none = projections == PROJECTIONS_NONE;
    line->copy = (projections == PROJECTIONS_QK_SHARED && i == 1) ||
                 (projections == PROJECTIONS_KV_SHARED && i == 2);
    line->trained = !line->copy && !none;
    line->frozen = none;
    if (none && line->dimensions == 2) line->init = INIT_IDENTITY;
}

static void linear(Listing *list, Linear *p, const char *module, int D_out, int D_in)
{
    align(list), matrix(list, &p->W, module, ".weight", D_out, D_in, INIT_XAVIER);
    align(list), tensor(list, &p->b, module, ".bias", 0, D_out, INIT_ZERO);
}

static void norm(Listing *list, NormWeights *p, const char *module, int D)
{
    align(list), tensor(list, &p->g, module, ".weight", 0, D, INIT_ONE);
    align(list), tensor(list, &p->b, module, ".bias", 0, D, INIT_ZERO);
}

static void attention(Listing *list, AttentionWeights *p, const char *module, const char *out,
                      const ModelConfig *c)
{
    const ScoreFunction *score = &score_functions[c->attention_score];
    int D = c->d_model, H = c->heads;
    align(list);
    Linear *const qkv[] = {&p->q, &p->k, &p->v};
    static const char *const weight[] = {".q_proj.weight", ".k_proj.weight", ".v_proj.weight"},
                             *const bias[] = {".q_proj.bias", ".k_proj.bias", ".v_proj.bias"};
    for (int i = 0; i < 3; i++)
        projection(matrix(list, &qkv[i]->W, module, weight[i], D, D, INIT_ATTENTION), i,
                   c->projections);
    align(list);
    for (int i = 0; i < 3; i++)
        projection(tensor(list, &qkv[i]->b, module, bias[i], 0, D, INIT_ZERO), i,
                   c->projections);
    linear(list, &p->out, out, D, D);
    p->scale = NULL;
    if (!score->learned) return;
    align(list);
    tensor(list, &p->scale, module, ".score_scale", 0, H, INIT_SCORE)->value =
        score_scale(score, D / H);
}

static void stack(Listing *list, const char *name, LayerWeights *layer, int layers,
                  NormWeights *last, bool decoder, const ModelConfig *c)
{
    int D = c->d_model;
    for (int l = 0; l < layers; l++, layer++) {
        snprintf(list->prefix, sizeof list->prefix, "model.%s.layers.%d.", name, l);
        attention(list, &layer->self, "self_attn", "self_attn.out_proj", c);
        norm(list, &layer->self_norm, "self_attn_layer_norm", D);
        if (decoder) {
            attention(list, &layer->cross, "encoder_attn", "encoder_attn.out_proj", c);
            norm(list, &layer->cross_norm, "encoder_attn_layer_norm", D);
        }
        linear(list, &layer->ffn.fc1, "fc1", c->ffn, D);
        linear(list, &layer->ffn.fc2, "fc2", D, c->ffn);
        norm(list, &layer->final_norm, "final_layer_norm", D);
    }
    snprintf(list->prefix, sizeof list->prefix, "model.%s.", name);
    if (c->norm == NORM_PRE) norm(list, last, "layer_norm", D);
}

static void embedding(Listing *list, Matrix *E, const char *module, int V, int D)
{
    align(list);
    matrix(list, E, module, ".weight", V, D, INIT_EMBEDDING)->kind = TENSOR_EMBEDDING;
}

/* One matrix used three times, or two, or three matrices. */
static void embeddings(Listing *list, Weights *w, const ModelConfig *c)
{
    int V = c->vocab, D = c->d_model;
    if (c->tying == TYING_ALL) {
        embedding(list, &w->source_embedding, "model.shared", V, D);
        w->target_embedding = w->output = w->source_embedding;
        return;
    }
    embedding(list, &w->source_embedding, "model.encoder.embed_tokens", config_source_vocab(c),
              D);
    embedding(list, &w->target_embedding, "model.decoder.embed_tokens", V, D);
    w->output = w->target_embedding;
    if (c->tying == TYING_NONE) embedding(list, &w->output, "lm_head", V, D);
}

static void positions(Listing *list, real **P, const char *module, const ModelConfig *c)
{
    *P = NULL;
    if (c->positions != POSITIONS_LEARNED) return;
    align(list);
    tensor(list, P, module, ".weight", c->max_length, c->d_model, INIT_POSITIONS)->kind =
        TENSOR_EMBEDDING;
}

static void network(Listing *list, Weights *w, const ModelConfig *c)
{
    int V = c->vocab;
    list->bf16 = c->precision == PRECISION_BF16;
    embeddings(list, w, c);
    align(list);
    tensor(list, &w->logits_bias, "final_logits_bias", "", 1, V, INIT_ZERO)->trained =
        c->output_bias;
    positions(list, &w->source_positions, "model.encoder.embed_positions", c);
    positions(list, &w->target_positions, "model.decoder.embed_positions", c);

    stack(list, "encoder", w->encoder, c->encoder_layers, &w->encoder_last, false, c);
    stack(list, "decoder", w->decoder, c->decoder_layers, &w->decoder_last, true, c);
    align(list);
}

bool params_table(Params *params, const ModelConfig *config, Error *error)
{
    Weights unused = {0};
    Listing counted = {0};
    network(&counted, &unused, config);
    Listing list = {.tensor = calloc((size_t)counted.count, sizeof(Tensor))};
    *params = (Params){counted.count, list.tensor, counted.size};
    if (!list.tensor) return error_memory(error, "for the parameter table");
    network(&list, &unused, config);
    return true;
}

void params_free(Params *params)
{
    free(params->tensor);
    *params = (Params){0};
}

void params_bind(Weights *weights, real *block, const ModelConfig *config)
{
    network(&(Listing){.block = block}, weights, config);
}

static void initialise(real *x, const Tensor *tensor, uint64_t seed)
{
    int out = tensor->shape[0], in = tensor->shape[1];
    uint64_t stream = hash_bytes(HASH_START, tensor->name, strlen(tensor->name));
    Rng rng = rng_stream(seed, RNG_INIT, stream);
    // Glorot initialisation: uniform in ±√(6 / (in + out))
    double bound = sqrt(6.0 / (in + out)), deviation = 1 / sqrt(in);
    if (tensor->init == INIT_ATTENTION) bound *= sqrt(0.5);
    for (size_t i = 0; i < tensor->count; i++) {
        switch (tensor->init) {
        case INIT_ZERO: x[i] = 0; break;
        case INIT_ONE: x[i] = 1; break;
        case INIT_IDENTITY: x[i] = i % (size_t)(in + 1) == 0; break;
        case INIT_SCORE: x[i] = tensor->value; break;
        case INIT_ATTENTION:
        case INIT_XAVIER: x[i] = (real)(bound * (2 * rng_uniform(&rng) - 1)); break;
        case INIT_EMBEDDING:
        case INIT_POSITIONS: x[i] = (real)(deviation * rng_normal(&rng)); break;
        }
    }
    if (tensor->init == INIT_EMBEDDING)  // the row of <pad>
        memset(x + (size_t)(out - 1) * (size_t)in, 0, (size_t)in * sizeof *x);
}

void params_initialise(const Params *params, real *block, uint64_t seed)
{
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        initialise(block + tensor->offset, tensor - tensor->copy, seed);
    }
}

void params_share(const Params *params, real *gradient)
{
    for (const Tensor *t = params->tensor; t < params->tensor + params->count; t++) {
        if (!t->copy) continue;
        real *copy = gradient + t->offset, *original = gradient + t[-1].offset;
        for (size_t i = 0; i < t->count; i++) copy[i] = original[i] += copy[i];
    }
}

void params_freeze(Params *params, unsigned parts)
{
    for (Tensor *t = params->tensor; t < params->tensor + params->count; t++) {
        bool embedding = strstr(t->name, "embed_") || !strcmp(t->name, "model.shared.weight");
        bool encoder = !strncmp(t->name, "model.encoder.", strlen("model.encoder."));
        int part = embedding ? PART_EMBEDDINGS : encoder ? PART_ENCODER : PART_DECODER;
        t->frozen |= (parts & (unsigned)part) != 0;
    }
}

size_t params_trained(const Params *params)
{
    size_t count = 0;
    for (int t = 0; t < params->count; t++)
        if (params->tensor[t].trained) count += params->tensor[t].count;
    return count;
}

void prepared_free(Prepared *prepared)
{
    arena_free(&prepared->arena);
    free(prepared->matrix);
    *prepared = (Prepared){0};
}
