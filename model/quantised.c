/* quantised.c -- from a network's block, or from a file, to prepared matrices; see
 * quantised.h. */
#include "model/quantised.h"
#include "base/block.h"

static void add(Transformer *model, Matrix *W, int rows, int columns)
{
    Prepared *p = &model->prepared;
    size_t offset = (size_t)(W->at - model->block);
    p->matrix[p->count++] =
        (PreparedMatrix){.rows = rows, .columns = columns, .offset = offset, .original = W};
}

static void add_stack(Transformer *model, LayerWeights *layer, int layers, bool decoder)
{
    int D = model->config.d_model, F = model->config.ffn;
    for (; layers > 0; layers--, layer++) {
        add(model, &layer->self.q.W, 3 * D, D);
        add(model, &layer->self.out.W, D, D);
        if (decoder) {
            add(model, &layer->cross.q.W, D, D);
            add(model, &layer->cross.k.W, 2 * D, D);
            add(model, &layer->cross.out.W, D, D);
        }
        add(model, &layer->ffn.fc1.W, F, D);
        add(model, &layer->ffn.fc2.W, D, F);
    }
}

/* Embeddings that are the output layer, too, are looked up in its prepared matrix. */
static void add_all(Transformer *model, bool int8)
{
    const ModelConfig *c = &model->config;
    Weights *w = &model->weights;
    int V = c->vocab, D = c->d_model;
    add(model, &w->output, V, D);
    if (int8 && c->tying == TYING_NONE) add(model, &w->target_embedding, V, D);
    if (int8 && c->tying != TYING_ALL)
        add(model, &w->source_embedding, config_source_vocab(c), D);
    add_stack(model, w->encoder, c->encoder_layers, false);
    add_stack(model, w->decoder, c->decoder_layers, true);
}

/* Lists the matrices and reserves their memory, which is to be filled. */
static bool create(Transformer *model, bool int8, Error *error)
{
    Prepared *p = &model->prepared;
    p->matrix = calloc((size_t)model->params.count, sizeof *p->matrix);
    bool good = p->matrix;
    if (good) add_all(model, int8);
    for (int pass = 0; pass < 2 && good; pass++) {
        for (int i = 0; i < p->count; i++)
            p->matrix[i].W =
                matrix_take(&p->arena, int8, p->matrix[i].rows, p->matrix[i].columns);
        if (pass == 0) good = arena_reserve(&p->arena, NULL);
    }
    if (good) return true;
    error_memory(error, "for %.1f MB of weights", (double)p->arena.used / 1e6);
    prepared_free(p);
    return false;
}

/* The network computes with the prepared matrices from now on, which get the numbers of the block if `fill`.
 * Releases what a matrix took in the block, one by one, so that only one matrix exists twice. No page of it
 * becomes part of a huge one again, which would take memory as soon as a bias beside it is written to. */
static void use(Transformer *model, bool fill)
{
    Weights *w = &model->weights;
    int tying = model->config.tying;
    for (int i = 0; i < model->prepared.count; i++) {
        const PreparedMatrix *m = &model->prepared.matrix[i];
        real *from = model->block + m->offset;
        if (fill) matrix_set(&m->W, 0, from, m->rows, m->columns);
        block_release(from, (size_t)m->rows * (size_t)m->columns * sizeof(real));
        *m->original = m->W;
    }
    if (tying != TYING_NONE) w->target_embedding = w->output;
    if (tying == TYING_ALL) w->source_embedding = w->output;
}

bool transformer_prepare(Transformer *model, bool int8, Error *error)
{
    if (!create(model, int8, error)) return false;
    use(model, true);
    return true;
}

bool transformer_read(Transformer *model, const CheckpointFile *file, bool int8, Error *error)
{
    int8 = int8 || checkpoint_has_int8(file, NULL);
    if (!create(model, int8, error)) return false;
    use(model, false);
    return checkpoint_read(file, &model->params, CHECKPOINT_WEIGHTS, &model->prepared,
                           model->block, error);
}
