/* transformer.c -- gradients of the whole network: every tensor in the table, each option, with
 * and without dropout and R-Drop. */
#include "model/transformer.h"
#include "tests/fixtures/check.h"
#include "tests/fixtures/variants.h"

static const ModelConfig base = {NETWORK(11, 6, 2, 10, 2, 2, 8), .output_bias = true};
static const double SMOOTHING = 0.1, SCALE = 0.7;

typedef struct Case {
    Activations activations;
    Transformer model;
} Case;

static double loss(void *context)
{
    Case *c = context;
    Loss sum = {0};
    transformer_forward(&c->activations, &c->model);
    transformer_loss(&sum, &c->activations, &c->model, SMOOTHING);
    return SCALE * sum.objective;
}

/* The last row of an embedding is <pad>, the first input of the decoder: the loss can depend on
 * it, but it stays zero and gets no gradient. */
static bool is_embedding(const char *name)
{
    return strstr(name, "shared") || strstr(name, "embed_tokens") || strstr(name, "lm_head");
}

static void check_case(const char *layer, const Variant *variant, const Packed *source,
                       const Packed *target, const Dropout *dropout)
{
    const ModelConfig config = variant_config(base, variant);
    static Case c;  // large
    static Weights dw;
    Arena arena = {0};
    assert_true(transformer_create(&c.model, &config, NULL));
    const Params *params = &c.model.params;
    params_initialise(params, c.model.block, 3);
    real *noise = numbers(params->size);
    for (size_t i = 0; i < params->size; i++) c.model.block[i] += noise[i] / 4;
    size_t D = (size_t)config.d_model;
    Added d = added(params->size);
    params_bind(&dw, d.now, &config);
    LAYOUT(&arena, transformer_layout(&c.activations, &arena, &c.model, source, target, dropout,
                                      KEEP_FOR_BACKWARD));

    Loss forward = {0}, backward = {0};
    transformer_forward(&c.activations, &c.model);
    transformer_loss(&forward, &c.activations, &c.model, SMOOTHING);
    transformer_backward(&backward, &c.activations, &c.model, &dw, SMOOTHING, (real)SCALE);
    assert_memory_equal(&forward, &backward, sizeof forward);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        size_t at = tensor->offset, pad = is_embedding(tensor->name) ? D : 0;
        size_t count = tensor->count - pad;
        check_tensor(&check, tensor->name, c.model.block + at, d.now + at, d.before + at,
                     count);
        check_untouched(d.now + at + count, d.before + at + count, pad);
    }
    check_report(&check);
    arena_free(&arena);
    transformer_free(&c.model);
    check_teardown(NULL);
}

static const Dropout DROPOUT = {
    .residual = 0.2, .activation = 0.1, .attention = 0.3, .seed = 5, .update = 2};

TEST(test_variants)
{
    for (int i = 0; i < VARIANTS; i++) {
        if (i % 2 || i == 0)
            check_case(variants[i].name, &variants[i], &source_rows, &target_rows, NULL);
        if (i % 2 == 0)
            check_case(variants[i].name, &variants[i], &source_rows, &target_rows, &DROPOUT);
    }
    check_case("all of the last, dropout", &variants[VARIANTS - 2], &source_rows, &target_rows,
               &DROPOUT);
}

/* The sentences followed by their copies. */
static Packed twice(const Packed *rows, int id[40], int start[10])
{
    int S = rows->sentences, N = rows->rows;
    for (int i = 0; i < 2 * N; i++) id[i] = rows->id[i % N];
    for (int s = 0; s <= 2 * S; s++) start[s] = rows->start[s % S] + s / S * N;
    return (Packed){2 * S, 2 * N, id, start};
}

TEST(test_r_drop)
{
    int source_id2[40], source_start2[10], target_id2[40], target_start2[10];
    Packed source = twice(&source_rows, source_id2, source_start2);
    Packed target = twice(&target_rows, target_id2, target_start2);
    Dropout dropout = DROPOUT;
    dropout.copy = source_rows.sentences, dropout.r_drop = 3;
    check_case("R-Drop", &variants[0], &source, &target, &dropout);
    check_case("R-Drop, all of the last", &variants[VARIANTS - 2], &source, &target, &dropout);
}

TEST_MAIN("gradients/transformer", NULL, check_teardown)
