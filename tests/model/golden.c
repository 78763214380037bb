/* golden.c -- the network against the same network in PyTorch
 * (tests/fixtures/golden/make-golden.py): outputs, attention, loss, every gradient, and the
 * weights after one and after five updates; and networks with other options, without updates.
 *
 *   error = largest |ours - theirs| / max(floor, largest |theirs|)      of a tensor
 *
 * Theirs was computed in double, so the error is our rounding. The floor is for gradients that
 * vanish, as the softmax does not see the keys' biases. */
#include "base/block.h"
#include "model/safetensors.h"
#include "model/transformer.h"
#include "tests/fixtures/params-find.h"
#include "tests/fixtures/variants.h"
#include "training/optimizer.h"

typedef struct Network {
    const char *path;
    ModelConfig config;
    bool updates;  // are in the file, too
} Network;

static const Network networks[] = {
    {"tests/fixtures/golden/golden.safetensors",
     {NETWORK(37, 16, 4, 32, 2, 2, 16), .output_bias = true},
     true},
    {"tests/fixtures/golden/pre-gelu.safetensors",
     {NETWORK(37, 8, 2, 12, 2, 2, 16), .output_bias = true, .norm = NORM_PRE,
      .activation = ACTIVATION_GELU, .positions = POSITIONS_LEARNED, .tying = TYING_NONE,
      .source_vocab = 41},
     false},
    {"tests/fixtures/golden/post-swish.safetensors",
     {NETWORK(37, 8, 2, 12, 2, 2, 16), .output_bias = true, .activation = ACTIVATION_SWISH,
      .positions = POSITIONS_NONE, .tying = TYING_DECODER},
     false},
};
static const Network *network;
static const double SMOOTHING = 0.1, CLIP = 1, FLOOR = 1e-2;

typedef struct Golden {
    SafeFile file;
    int *source_ids, *source_starts, *target_ids, *target_starts;
    Packed source, target;
    Transformer model;
    Weights dw;
    real *gradient;  // a block
    Arena arena;
    Activations activations;
    double worst;
} Golden;

static Golden g;

static void *load(const char *name, Dtype dtype, size_t count)
{
    Error error;
    const SafeTensor *tensor = safetensors_find(&g.file, name);
    if (!tensor) fail_msg("%s has no tensor '%s'", network->path, name);
    assert_int_equal(tensor->dtype, dtype);
    if (count) assert_int_equal(tensor->bytes, count * dtypes[dtype].size);
    void *data = malloc(tensor->bytes);
    assert_non_null(data);
    if (!safetensors_read(&g.file, tensor, data, &error)) fail_msg("%s", error.text);
    return data;
}

static int *load_ids(const char *name, int *count)
{
    const SafeTensor *tensor = safetensors_find(&g.file, name);
    assert_non_null(tensor);
    *count = (int)(tensor->bytes / sizeof(int));
    return load(name, DTYPE_I32, 0);
}

static void compare(const char *prefix, const char *name, const real *ours, size_t count,
                    double limit)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    float *theirs = load(full, DTYPE_F32, count);
    double largest = FLOOR, error = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)theirs[i]));
        double difference = fabs((double)ours[i] - (double)theirs[i]);
        if (!(difference <= error)) error = difference;  // NaN comes through
    }
    free(theirs);
    if (!(error <= limit * largest)) fail_msg("%s: error %.2e", full, error / largest);
    g.worst = fmax(g.worst, error / largest);
}

/* Every tensor of the table, from a block. */
static void compare_all(const char *prefix, const real *block, double limit)
{
    const Params *params = &g.model.params;
    g.worst = 0;
    for (int t = 0; t < params->count; t++)
        compare(prefix, params->tensor[t].name, block + params->tensor[t].offset,
                params->tensor[t].count, limit);
    print_message("%s*: worst error %.1e\n", prefix, g.worst);
}

/* Forward and backward: the gradient of the mean over the target tokens. */
static Loss run(void)
{
    Loss loss = {0};
    memset(g.gradient, 0, g.model.params.size * sizeof *g.gradient);
    transformer_forward(&g.activations, &g.model);
    transformer_backward(&loss, &g.activations, &g.model, &g.dw, SMOOTHING,
                         1 / (real)g.target.rows);
    return loss;
}

FIXTURE(setup)
{
    Error error;
    g = (Golden){.worst = 0};
    int source_rows, target_rows, starts;
    if (!safetensors_open(&g.file, network->path, NULL, 0, &error)) fail_msg("%s", error.text);
    g.source_ids = load_ids("source.ids", &source_rows);
    g.target_ids = load_ids("target.ids", &target_rows);
    g.source_starts = load_ids("source.starts", &starts);
    g.target_starts = load_ids("target.starts", &starts);
    g.source = (Packed){starts - 1, source_rows, g.source_ids, g.source_starts};
    g.target = (Packed){starts - 1, target_rows, g.target_ids, g.target_starts};
    assert_int_equal(g.source_starts[starts - 1], source_rows);
    assert_int_equal(g.target_starts[starts - 1], target_rows);

    assert_true(transformer_create(&g.model, &network->config, &error));
    const Params *params = &g.model.params;
    g.gradient = block_zeros(params->size * sizeof(real), &error);
    assert_non_null(g.gradient);
    params_bind(&g.dw, g.gradient, &network->config);
    for (int t = 0; t < params->count; t++) {
        char name[256];
        snprintf(name, sizeof name, "weight.%s", params->tensor[t].name);
        float *weights = load(name, DTYPE_F32, params->tensor[t].count);
        memcpy(g.model.block + params->tensor[t].offset, weights,
               params->tensor[t].count * sizeof *weights);
        free(weights);
    }
    LAYOUT(&g.arena, transformer_layout(&g.activations, &g.arena, &g.model, &g.source,
                                        &g.target, NULL, KEEP_FOR_BACKWARD));
    return 0;
}

FIXTURE(teardown)
{
    free(g.source_ids), free(g.source_starts), free(g.target_ids), free(g.target_starts);
    free(g.gradient);
    arena_free(&g.arena);
    transformer_free(&g.model);
    safetensors_close(&g.file);
    return 0;
}

/* Both networks consist of the same tensors, by name and shape. */
TEST(test_names)
{
    int weights = 0;
    for (int i = 0; i < g.file.count; i++) {
        const SafeTensor *theirs = &g.file.tensor[i];
        if (strncmp(theirs->name, "weight.", 7)) continue;
        const Tensor *ours = params_find(&g.model.params, theirs->name + 7);
        if (!ours) fail_msg("the table has no tensor '%s'", theirs->name + 7);
        assert_int_equal(ours->dimensions, theirs->dimensions);
        for (int d = 0; d < ours->dimensions; d++)
            assert_int_equal(ours->shape[d], theirs->shape[d]);
        weights++;
    }
    assert_int_equal(weights, g.model.params.count);
}

/* The maps of all sentences and heads, without the padding of their rows. */
static void compare_attention(const char *name, const Attention *a)
{
    real maps[4096];
    size_t count = 0;
    int heads = network->config.heads;
    for (int s = 0; s < a->queries->sentences; s++) {
        int n = a->queries->start[s + 1] - a->queries->start[s];
        int m = a->keys->start[s + 1] - a->keys->start[s], width = head_width(m);
        assert_true(count + (size_t)(heads * n * m) <= sizeof maps / sizeof *maps);
        for (int h = 0; h < heads; h++)
            for (int i = 0; i < n; i++, count += (size_t)m)
                memcpy(maps + count, a->P + attention_map_at(a, s, h) + i * width,
                       (size_t)m * sizeof *maps);
    }
    compare("attention.", name, maps, count, 1e-6);
}

TEST(test_pass)
{
    size_t D = (size_t)network->config.d_model;
    Loss loss = run();
    real nll = (real)(loss.nll / (double)loss.tokens);
    real objective = (real)(loss.objective / (double)loss.tokens);
    assert_int_equal(loss.tokens, g.target.rows);
    g.worst = 0;
    compare("", "nll", &nll, 1, 1e-6);
    compare("", "objective", &objective, 1, 1e-6);
    compare("", "encoded", g.activations.encoded, (size_t)g.source.rows * D, 2e-6);
    compare("", "output", g.activations.output, (size_t)g.target.rows * D, 2e-6);
    compare_attention("encoder", &g.activations.encoder.layer[1].self);
    compare_attention("decoder", &g.activations.decoder.layer[1].self);
    compare_attention("cross", &g.activations.decoder.layer[1].cross);
    print_message("loss, outputs and attention: worst error %.1e\n", g.worst);
    compare_all("gradient.", g.gradient, 2e-5);
}

static double norm(const real *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* Five updates with clipping, as torch.nn.utils.clip_grad_norm_ and torch.optim.Adam do them.
 * Last, as it changes the weights. */
TEST(test_updates)
{
    if (!network->updates) return;
    const Params *params = &g.model.params;
    real *m = block_zeros(params->size * sizeof(real), NULL),
         *v = block_zeros(params->size * sizeof(real), NULL);
    float *norms = load("gradient_norm", DTYPE_F32, 5);
    assert_true(m && v);
    for (int update = 1; update <= 5; update++) {
        run();
        double length = norm(g.gradient, params->size);
        assert_true(fabs(length - (double)norms[update - 1]) < 1e-5 * length);
        const TrainingConfig config = {.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-4};
        adam_update(g.model.block, m, v, g.gradient, params->size, &config, update, 0.01,
                    fmin(1, CLIP / (length + 1e-6)));
        if (update == 1) compare_all("updated.1.", g.model.block, 1e-5);
        if (update == 5) compare_all("updated.5.", g.model.block, 2e-5);
    }
    free(m), free(v), free(norms);
}

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        network = &networks[i];
        failed += run_all_tests(network->path, setup, teardown);
    }
    return failed;
}
