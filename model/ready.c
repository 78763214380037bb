/* ready.c -- one walk over all matrices of a network; see ready.h.
 *
 * The walk is made twice, as layouts are: to measure, and then to hand out memory, fill it, and
 * give back what it was filled from, matrix by matrix, so that the network is never there twice. */
#include "model/ready.h"

#include <stdlib.h>

#include "kernels/panels.h"

typedef struct Walk {
    Ready *ready;
    const Transformer *model;
    MatrixKind kind;
    const CheckpointFile *file;  // that the matrices are read from; NULL: they are in the block
    int8_t *q;                   // [the largest tensor] of the file
    float *scale;                // [its rows]
    int read;                    // tensors
    bool failed;                 // then *error says why
    Error *error;
} Walk;

enum { AN_ENCODER_LAYER = 4, A_DECODER_LAYER = 7, EMBEDDINGS = 3 };  // matrices

/* matrix (=) the file's tensors whose places in the block are those of W. */
static void read_tensors(Walk *walk, Matrix *matrix, size_t offset)
{
    const Params *params = &walk->model->params;
    size_t count = (size_t)matrix->rows * (size_t)matrix->columns;
    for (int i = 0; i < params->count && !walk->failed; i++) {
        const Tensor *tensor = &params->tensor[i];
        if (tensor->offset < offset || tensor->offset >= offset + count) continue;
        int first = (int)((tensor->offset - offset) / (size_t)matrix->columns);
        walk->failed =
            !checkpoint_read_int8(walk->file, tensor, walk->q, walk->scale, walk->error);
        for (int r = 0; r < tensor->shape[0] && !walk->failed; r++)
            int8_put(&matrix->int8, first + r, walk->q + r * matrix->columns, walk->scale[r]);
        walk->read++;
    }
}

/* kept: W itself is needed further on. */
static const Matrix *make(Walk *walk, real *W, int rows, int columns, bool kept)
{
    Ready *ready = walk->ready;
    bool measuring = !ready->arena.base;
    Matrix measured, *matrix = measuring ? &measured : &ready->matrix[ready->count];
    matrix_layout(matrix, &ready->arena, walk->kind, rows, columns);
    if (measuring) return NULL;
    size_t offset = ready->offset[ready->count++] = (size_t)(W - walk->model->block);
    if (walk->file) read_tensors(walk, matrix, offset);
    else matrix_set(matrix, W);
    if (!kept) block_release(W, (size_t)rows * (size_t)columns * sizeof *W);
    return matrix;
}

/* Floats that lie in panels are ready. */
static void linear(Walk *walk, Linear *w, int D_out, int D_in)
{
    bool measuring = !walk->ready->arena.base;
    if (w->in_panels && walk->kind == MATRIX_FLOAT) return;
    if (w->in_panels && !measuring && !walk->file) panels_unpack_in_place(w->W, D_out, D_in);
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
    walk->ready->matrix = ARENA_TAKE(&walk->ready->arena, Matrix, most);
    walk->ready->offset = ARENA_TAKE(&walk->ready->arena, size_t, most);
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

/* Measures, takes the memory, and makes the walk. */
static bool walk_network(Walk *walk, Transformer *model)
{
    Ready *ready = walk->ready = calloc(1, sizeof *ready);
    if (!ready) return error_set(walk->error, "not enough memory for the model");
    walk->model = model;
    network(walk, &model->weights, &model->config);
    size_t bytes = ready->arena.used;
    if (!arena_reserve(&ready->arena, NULL)) {
        free(ready);
        return error_set(walk->error, "not enough memory for %.1f MB of weights",
                         (double)bytes / 1e6);
    }
    network(walk, &model->weights, &model->config);
    model->ready = ready;
    return !walk->failed;
}

bool transformer_ready(Transformer *model, MatrixKind kind, Error *error)
{
    if (kind == MATRIX_FLOAT && !gemm_packs()) return true;
    Walk walk = {.kind = kind, .error = error};
    return walk_network(&walk, model);
}

bool transformer_read_rounded(Transformer *model, const CheckpointFile *file, Error *error)
{
    const Params *params = &model->params;
    size_t most = 0, rows = 0;
    int rounded = 0;
    if (!checkpoint_fits_rounded(file, params, error)) return false;
    for (int i = 0; i < params->count; i++) {
        const Tensor *tensor = &params->tensor[i];
        if (tensor->count > most) most = tensor->count;
        if ((size_t)tensor->shape[0] > rows) rows = (size_t)tensor->shape[0];
        rounded += checkpoint_is_rounded(file, tensor);
    }
    Walk walk = {.kind = MATRIX_INT8, .file = file, .error = error};
    walk.q = malloc(most), walk.scale = malloc(rows * sizeof *walk.scale);
    bool good = walk.q && walk.scale
                    ? walk_network(&walk, model)
                    : error_set(error, "not enough memory for %.1f MB of weights", most / 1e6);
    free(walk.q), free(walk.scale);
    if (good && walk.read != rounded)
        return error_set(error, "'%s' holds as int8 what is no matrix", file->file.path);
    return good && checkpoint_read_rounded(file, params, model->block, error);
}

MatrixRows ready_rows(const Ready *ready, const Tensor *tensor)
{
    for (int i = 0; ready && i < ready->count; i++) {
        const Matrix *matrix = &ready->matrix[i];
        size_t offset = ready->offset[i];
        if (tensor->offset < offset) continue;
        if (tensor->offset < offset + (size_t)matrix->rows * (size_t)matrix->columns)
            return (MatrixRows){matrix,
                                (int)((tensor->offset - offset) / (size_t)matrix->columns)};
    }
    return (MatrixRows){NULL, 0};
}

void ready_free(Ready *ready)
{
    if (ready) arena_free(&ready->arena);
    free(ready);
}
