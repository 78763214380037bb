/* adam.c -- which tensors weight decay is for, and the learning-rate schedules. The updates
 * themselves: tests/model/golden.c and tests/explain/backward.c. */
#include "tests/fixtures/test.h"
#include "training/optimizer.h"

static const ModelConfig SHAPE = {.vocab = 37,
                                  .d_model = 64,
                                  .heads = 4,
                                  .ffn = 90,
                                  .encoder_layers = 2,
                                  .decoder_layers = 1,
                                  .max_length = 8,
                                  .output_bias = true};

/* Several slices of a network with gradients of zero: Adam stands still, and so what a decay of
 * 0.25 at a rate of 0.5 leaves of every matrix is seven eighths; of biases and norms, all. */
TEST(test_decay_is_for_matrices)
{
    Error error;
    Transformer model;
    Gradients gradients;
    Optimizer optimizer;
    TrainingConfig config = training_defaults();
    config.weight_decay = 0.25;
    double norm;
    assert_true(transformer_create(&model, &SHAPE, &error));
    assert_true(model.params.size > 4 * SLICE);
    Workers *workers = workers_start(2, &error);
    assert_true(gradients_create(&gradients, &model, 2, &error));
    assert_true(optimizer_create(&optimizer, &model, &gradients, &config, 2, &error));
    assert_true(gradients_sum(&gradients, &norm, 2, workers, &error));
    for (size_t i = 0; i < model.params.size; i++) model.block[i] = (real)(i % 1000 + 1);
    assert_true(optimizer_update(&optimizer, 1, 0.5, 1, workers, &error));
    int matrices = 0;
    for (int t = 0; t < model.params.count; t++) {
        const Tensor *tensor = &model.params.tensor[t];
        bool bias = strstr(tensor->name, "bias"), gain = strstr(tensor->name, "norm");
        matrices += !bias && !gain;
        for (size_t i = tensor->offset; i < tensor->offset + tensor->count; i++) {
            double before = (double)(i % 1000 + 1),
                   after = bias || gain ? before : 0.875 * before;
            assert_true((double)model.block[i] == after);
        }
    }
    assert_int_equal(matrices, 1 + 6 * 2 + 10 * 1);
    optimizer_free(&optimizer);
    gradients_free(&gradients);
    workers_stop(workers);
    transformer_free(&model);
}

/* Learning rates by hand. */
TEST(test_schedule)
{
    static const struct {
        Schedule schedule;
        long long update;
        int warmup;
        double rate;
    } known[] = {
        {SCHEDULE_INVERSE_SQRT, 50, 100, 0.05},  {SCHEDULE_INVERSE_SQRT, 100, 100, 0.1},
        {SCHEDULE_INVERSE_SQRT, 400, 100, 0.05}, {SCHEDULE_INVERSE_SQRT, 4, 0, 0.05},
        {SCHEDULE_COSINE, 600, 100, 0.05},       {SCHEDULE_COSINE, 1100, 100, 0},
        {SCHEDULE_LINEAR, 850, 100, 0.025},      {SCHEDULE_CONSTANT, 9999, 100, 0.1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const TrainingConfig config = {.schedule = known[i].schedule,
                                       .learning_rate = 0.1,
                                       .warmup = known[i].warmup,
                                       .max_updates = 1100};
        assert_true(fabs(schedule_rate(&config, known[i].update) - known[i].rate) < 1e-12);
    }
}

TEST_MAIN("adam", NULL, NULL)
