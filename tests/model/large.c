/* large.c -- a network that is read in many pieces by several threads, and prepared for
 * inference meanwhile, is what it is if it is prepared later. */
#include <unistd.h>

#include "model/quantised.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/temporary-file.h"

static Error error;

enum { V = 40, D = 512, F = 544, S = 6 };
static const ModelConfig config = {NETWORK(V, D, 8, F, 1, 1, 24), .output_bias = true};
static Transformer large;
static Packed source, target;

static int setup(void **state)
{
    if (!transformer_create(&large, &config, &error)) return -1;
    params_initialise(&large.params, large.block, 3);
    source = random_sentences(S, 23, V, 4);
    target = random_sentences(S, 23, V, 5);
    return source.rows >= 28 && target.rows >= 28 ? path_make(state) : -1;
}

static int teardown(void **state)
{
    transformer_free(&large);
    free_sentences(source);
    free_sentences(target);
    return path_remove(state);
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

TEST(prepared_while_it_is_read)
{
    CheckpointFile file;
    Checkpoint checkpoint = {.params = &large.params,
                             .weights = large.block,
                             .config = "{}",
                             .tokenizer[1] = "x",
                             .tokenizer_size[1] = 1};
    if (!checkpoint_save(&checkpoint, path, &error)) fail_msg("%s", error.text);
    for (int int8 = 0; int8 < 2; int8++) {
        Transformer later, read;
        assert_true(transformer_create(&later, &config, &error));
        assert_true(transformer_create(&read, &config, &error));
        memcpy(later.block, large.block, large.params.size * sizeof(real));
        assert_true(transformer_prepare(&later, int8, &error));
        assert_true(checkpoint_open(&file, path, NULL, 0, &error));
        if (!transformer_read(&read, &file, int8, &error)) fail_msg("%s", error.text);
        checkpoint_close(&file);
        assert_int_equal(read.prepared.count, later.prepared.count);
        assert_same_output(&read, &later);
        if (!int8) assert_same_output(&read, &large);
        transformer_free(&later), transformer_free(&read);
    }
}

KINDS_MAIN("large", setup, teardown)
