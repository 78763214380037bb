/* longsentences.c -- an update on sentences of 2,048 tokens: its memory, and the same bits for any
 * number of threads. */
#include "tests/fixtures/small-training.h"
#include "tests/fixtures/test.h"

enum { LONG = 2048 };

static int id[2 * LONG];

/* The tiny network without most of its vocabulary. */
static size_t bytes_of(int length)
{
    const ModelConfig tiny = {NETWORK(100, 128, 4, 256, 4, 4, 8192)};
    int *ids = calloc((size_t)length, sizeof *ids);
    const PairIds pair = {{ids, ids}, {length, length}, 0};
    const Dropout dropout = {.residual = 0.3, .attention = 0.1};
    int first = 0;
    const MicroBatchPart part = {&first, 1, 2 * length};
    Transformer model;
    MicroBatch batch = {0};
    assert_true(transformer_create(&model, &tiny, NULL));
    assert_true(microbatch_pack(&batch, &pair, &part, &dropout, NULL));
    assert_true(microbatch_layout(&batch, &model, NULL, NULL));
    size_t bytes = batch.arena.size;
    microbatch_free(&batch);
    transformer_free(&model);
    free(ids);
    return bytes;
}

/* With whole maps these would be 1.6 GB; P alone 0.8 GB. */
TEST(test_memory_grows_with_the_length)
{
    double medium = (double)bytes_of(512), longer = (double)bytes_of(2048);
    assert_true(longer < 160e6);
    assert_true(longer < 4 * medium);
    assert_true((double)bytes_of(8192) < 4.2 * longer);
}

/* *size (=) how many weights are returned. */
static real *update_with(int threads, size_t *size)
{
    TrainingConfig c = config();
    const ModelConfig shape = {NETWORK(V, 24, 3, 40, 1, 1, LONG)};
    SmallTraining l;
    begin_training(&l, &shape, &c, threads);
    int start[] = {0, 700, LONG, 2 * LONG};
    for (int i = 0; i < 2 * LONG; i++) id[i] = 2 + i * 7 % (V - 3);
    for (int s = 1; s < 4; s++) id[start[s] - 1] = ID_END;
    l.source.packed = l.target.packed = (Packed){3, 2 * LONG, id, start};
    assert_true(make_update(&l, 1));
    assert_true(isfinite(l.stats.loss.objective) && l.stats.gradient_norm > 0);
    *size = l.model.params.size;
    real *weights = copy_of(l.model.block, *size * sizeof(real));
    end_training(&l);
    return weights;
}

TEST(test_threads_change_no_bit)
{
    size_t size;
    real *one = update_with(1, &size);
    for (int threads = 2; threads <= 3; threads++) {
        real *many = update_with(threads, &size);
        assert_memory_equal(one, many, size * sizeof *one);
        free(many);
    }
    free(one);
}

TEST_MAIN("longsentences", NULL, NULL)
