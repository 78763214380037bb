/* ready.c -- one walk over all matrices of a network; see ready.h.
 *
 * The walk is made twice, as layouts are: to measure, and then to hand out memory, fill it, and
 * give back what it was filled from, matrix by matrix, so that the network is never there twice. */
#include "model/ready.h"

#include <stdlib.h>

typedef struct Walk {
    Ready *ready;
    Arena *arena;
    const real *block;
    MatrixKind kind;
} Walk;

enum { AN_ENCODER_LAYER = 4, A_DECODER_LAYER = 7, EMBEDDINGS = 3 };  // matrices

/* kept: W itself is needed further on. */
static const Matrix *make(Walk *walk, real *W, int rows, int columns, bool kept)
{
    Ready *ready = walk->ready;
    bool measuring = !walk->arena->base;
    Matrix measured, *matrix = measuring ? &measured : &ready->matrix[ready->count];
    matrix_layout(matrix, walk->arena, walk->kind, rows, columns);
    if (measuring) return NULL;
    ready->offset[ready->count++] = (size_t)(W - walk->block);
    matrix_set(matrix, W);
    if (!kept) block_release(W, (size_t)rows * (size_t)columns * sizeof *W);
    return matrix;
}

static void linear(Walk *walk, Linear *w, int D_out, int D_in)
{
    w->ready = make(walk, w->W, D_out, D_in, false);
}

static void feedforward(Walk *walk, FeedforwardWeights *w, int D, int F)
{
    linear(walk, &w->fc1, F, D);
    linear(walk, &w->fc2, D, F);
}

/* Rounded embeddings serve for looking up, too: the rows that a stored model of eight bits has.
 * Floats are looked up where they are, and only the output layer is made ready. */
static void embeddings(Walk *walk, Weights *w, const ModelConfig *c)
{
    int V = c->vocab, D = c->d_model;
    bool rounded = walk->kind == MATRIX_INT8;
    const Matrix *output = make(walk, w->output, V, D, !rounded && c->tying != TYING_NONE);
    w->ready_output = output;
    if (!rounded) return;
    w->ready_target = output, w->ready_source = output;
    if (c->tying == TYING_NONE) w->ready_target = make(walk, w->target_embedding, V, D, false);
    if (c->tying != TYING_ALL)
        w->ready_source = make(walk, w->source_embedding, config_source_vocab(c), D, false);
}

static void network(Walk *walk, Weights *w, const ModelConfig *c)
{
    size_t most = (size_t)(c->encoder_layers * AN_ENCODER_LAYER +
                           c->decoder_layers * A_DECODER_LAYER + EMBEDDINGS);
    int D = c->d_model, F = c->ffn;
    walk->ready->matrix = ARENA_TAKE(walk->arena, Matrix, most);
    walk->ready->offset = ARENA_TAKE(walk->arena, size_t, most);
    embeddings(walk, w, c);
    for (int l = 0; l < c->encoder_layers; l++) {
        EncoderLayerWeights *layer = &w->encoder[l];
        linear(walk, &layer->self.q, 3 * D, D);
        linear(walk, &layer->self.out, D, D);
        feedforward(walk, &layer->ffn, D, F);
    }
    for (int l = 0; l < c->decoder_layers; l++) {
        DecoderLayerWeights *layer = &w->decoder[l];
        linear(walk, &layer->self.q, 3 * D, D);
        linear(walk, &layer->self.out, D, D);
        linear(walk, &layer->cross.q, D, D);
        linear(walk, &layer->cross.k, 2 * D, D);
        linear(walk, &layer->cross.out, D, D);
        feedforward(walk, &layer->ffn, D, F);
    }
}

bool transformer_ready(Transformer *model, MatrixKind kind, Error *error)
{
    if (kind == MATRIX_FLOAT && !gemm_packs()) return true;
    Ready *ready = calloc(1, sizeof *ready);
    if (!ready) return error_set(error, "not enough memory for the model");
    Walk walk = {ready, &ready->arena, model->block, kind};
    network(&walk, &model->weights, &model->config);
    size_t bytes = ready->arena.used;
    if (!arena_reserve(&ready->arena, NULL)) {
        free(ready);
        return error_set(error, "not enough memory for %.1f MB of weights", (double)bytes / 1e6);
    }
    network(&walk, &model->weights, &model->config);
    model->ready = ready;
    return true;
}

void ready_free(Ready *ready)
{
    if (ready) arena_free(&ready->arena);
    free(ready);
}
