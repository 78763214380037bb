/* large.c -- a network whose matrices are large enough to be packed equals, bit for bit, the
 * same network with matrices in rows: initialised, trained, saved, read, and prepared for
 * inference. */
#include <unistd.h>

#include "base/block.h"
#include "model/quantised.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/temporary-file.h"

static Error error;

enum { V = 40, D = 512, F = 544, S = 6 };
static const ModelConfig config = {NETWORK(V, D, 8, F, 1, 1, 24), .output_bias = true};
static Transformer large, rows;
static Packed source, target;

static void in_rows(Weights *w)
{
    LayerWeights *e = w->encoder, *d = w->decoder;
    Linear *all[] = {&e->self.q,  &e->self.k,   &e->self.v,  &e->self.out,
                     &e->ffn.fc1, &e->ffn.fc2,  &d->self.q,  &d->self.k,
                     &d->self.v,  &d->self.out, &d->ffn.fc1, &d->ffn.fc2,
                     &d->cross.q, &d->cross.k,  &d->cross.v, &d->cross.out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->W.layout = MATRIX_ROWS;
}

/* x [tensor->count] (=) a tensor of a block, row by row. */
static void params_rows(real *x, const Tensor *tensor, const real *block)
{
    int columns = tensor->dimensions == 2 ? tensor->shape[1] : 1;
    matrix_copy_rows(x, tensor->layout, block + tensor->offset, tensor->shape[0], columns);
}

static int setup(void **state)
{
    if (!transformer_create(&large, &config, &error)) return -1;
    if (!transformer_create(&rows, &config, &error)) return -1;
    params_initialise(&large.params, large.block, 3);
    for (int t = 0; t < rows.params.count; t++) {
        Tensor *tensor = &rows.params.tensor[t];
        params_rows(rows.block + tensor->offset, tensor, large.block);
        tensor->layout = MATRIX_ROWS;
    }
    in_rows(&rows.weights);
    source = random_sentences(S, 23, V, 4);
    target = random_sentences(S, 23, V, 5);
    return source.rows >= 28 && target.rows >= 28 ? path_make(state) : -1;
}

static int teardown(void **state)
{
    transformer_free(&large);
    transformer_free(&rows);
    free_sentences(source);
    free_sentences(target);
    return path_remove(state);
}

/* Exactly the matrices of layers, if this build packs any. */
TEST(what_is_packed)
{
    for (int t = 0; t < large.params.count; t++) {
        const Tensor *tensor = &large.params.tensor[t];
        bool layer = strstr(tensor->name, "layers") && tensor->dimensions == 2;
        assert_int_equal(tensor->layout, layer ? matrix_layout_trained(D, D) : MATRIX_ROWS);
    }
    assert_int_equal(large.weights.decoder[0].cross.k.W.layout, matrix_layout_trained(D, D));
}

TEST(initialised_the_same)
{
    real *block = block_resident(rows.params.size * sizeof(real), NULL);
    params_initialise(&rows.params, block, 3);
    assert_memory_equal(block, rows.block, rows.params.size * sizeof *block);
    free(block);
}

/* The loss, and a block of gradients (free() it), of all sentences. */
static real *gradients(const Transformer *model, Loss *loss)
{
    static Weights dw;
    Activations *a = calloc(1, sizeof *a);
    Arena arena = {0};
    real *block = block_resident(model->params.size * sizeof(real), NULL);
    params_bind(&dw, block, &config);
    if (model == &rows) in_rows(&dw);
    *loss = (Loss){0};
    LAYOUT(&arena,
           transformer_layout(a, &arena, model, &source, &target, NULL, KEEP_FOR_BACKWARD));
    transformer_forward(a, model);
    transformer_backward(loss, a, model, &dw, 0.1, 1);
    arena_free(&arena);
    free(a);
    return block;
}

TEST(trained_the_same)
{
    Loss a, b;
    real *x = gradients(&large, &a), *y = gradients(&rows, &b);
    real *tensor = malloc(large.params.size * sizeof *tensor);
    assert_true(a.nll == b.nll && a.nll > 0);
    for (int t = 0; t < large.params.count; t++) {
        const Tensor *line = &large.params.tensor[t];
        params_rows(tensor, line, x);
        if (memcmp(tensor, y + line->offset, line->count * sizeof *tensor))
            fail_msg("the gradients of %s differ", line->name);
    }
    free(x), free(y), free(tensor);
}

/* A file has rows, whatever the memory has, and reading puts back what was there. */
TEST(saved_in_rows)
{
    CheckpointFile file;
    const size_t bytes = large.params.size * sizeof(real);
    real *block = block_resident(large.params.size * sizeof(real), NULL);
    Checkpoint checkpoint = {
        .params = &large.params,
        .weights = large.block,
        .block = (CheckpointBlock[]){{CHECKPOINT_ADAM_M, NULL, large.block}, {0}},
        .config = "{}",
        .tokenizer[1] = "x",
        .tokenizer_size[1] = 1};
    if (!checkpoint_save(&checkpoint, path, &error)) fail_msg("%s", error.text);
    assert_true(checkpoint_open(&file, path, &error));
    assert_true(checkpoint_read(&file, &large.params, CHECKPOINT_WEIGHTS, block, &error));
    assert_memory_equal(block, large.block, bytes);
    memset(block, 0, bytes);
    assert_true(checkpoint_read(&file, &rows.params, CHECKPOINT_ADAM_M, block, &error));
    assert_memory_equal(block, rows.block, bytes);
    checkpoint_close(&file);
    free(block);
}

static void assert_same_output(const Transformer *a, const Transformer *b)
{
    Arena x, y;
    const real *one = forced_pass(&x, a, &source, &target);
    const real *two = forced_pass(&y, b, &source, &target);
    assert_memory_equal(one, two, (size_t)(target.rows * D) * sizeof *one);
    real *row = malloc(2 * D * sizeof *row);
    for (int o = 0; o < D; o++)
        assert_memory_equal(matrix_row(row, &a->weights.decoder[0].cross.out.W, o, D),
                            matrix_row(row + D, &b->weights.decoder[0].cross.out.W, o, D),
                            D * sizeof *row);
    free(row);
    arena_free(&x);
    arena_free(&y);
}

/* Read in many pieces by several threads, a network is what it is if it is prepared later.
 * The file is that of saved_in_rows. */
TEST(prepared_while_it_is_read)
{
    for (int int8 = 0; int8 < 2; int8++) {
        Transformer later, read;
        CheckpointFile file;
        assert_true(transformer_create(&later, &config, &error));
        assert_true(transformer_create(&read, &config, &error));
        memcpy(later.block, large.block, large.params.size * sizeof(real));
        assert_true(transformer_prepare(&later, int8, &error));
        assert_true(checkpoint_open(&file, path, &error));
        if (!transformer_read(&read, &file, int8, &error)) fail_msg("%s", error.text);
        checkpoint_close(&file);
        assert_int_equal(read.prepared.count, later.prepared.count);
        assert_same_output(&read, &later);
        transformer_free(&later), transformer_free(&read);
    }
}

/* Last, since it changes the networks. Floats that are packed already stay where they are. */
TEST(prepared_the_same)
{
    Transformer again;
    assert_same_output(&large, &rows);
    assert_true(transformer_create(&again, &config, &error));
    memcpy(again.block, large.block, large.params.size * sizeof(real));
    assert_true(transformer_prepare(&again, false, &error));
    if (matrix_layout_trained(D, D) == MATRIX_PACKED) {
        assert_int_equal(again.prepared.count, 1);  // the output layer
        assert_same_output(&again, &rows);
    }
    transformer_free(&again);
    assert_true(transformer_prepare(&large, true, &error));
    assert_true(transformer_prepare(&rows, true, &error));
    assert_int_equal(large.weights.encoder[0].ffn.fc1.W.layout, MATRIX_INT8);
    assert_same_output(&large, &rows);
}

KINDS_MAIN("large", setup, teardown)
