/* stacks.c -- gradients of the encoder and of the decoder: every tensor, the embedded input,
 * and for the decoder the encoded source, whose gradient is a sum over the layers. */
#include "model/stacks.h"
#include "tests/fixtures/check.h"

static ModelConfig config = {.vocab = 11, .d_model = 6, .heads = 2, .ffn = 10, .max_length = 8};

typedef struct Case {
    Stack stack;
    Scratch scratch;
    real *X, *encoded, *R;
    Weights w;
    const Dropout *dropout;
    size_t count;  // of X
} Case;

static double loss(void *context)
{
    Case *c = context;
    const real *Y = stack_forward(&c->stack, c->X, c->encoded, &c->w, &c->scratch);
    return inner(Y, c->R, c->count);
}

static void layout(Case *c, Arena *arena, bool decodes)
{
    scratch_layout(&c->scratch, arena, &config, source_rows.rows, true);
    stack_layout(&c->stack, arena, &config, decodes ? &target_rows : &source_rows,
                 decodes ? &source_rows : NULL, c->dropout, KEEP_FOR_BACKWARD);
}

static void check_case(const char *layer, bool decodes, const Dropout *dropout)
{
    static Case c;  // large
    static Weights dw;
    Params params;
    Arena arena = {0};
    size_t n = (size_t)(source_rows.rows * config.d_model);
    size_t count = decodes ? (size_t)(target_rows.rows * config.d_model) : n;
    assert_true(params_table(&params, &config, NULL));
    real *block = numbers(params.size), *dencoded = numbers(n);
    Added dblock = added(params.size);
    c = (Case){.X = numbers(count),
               .encoded = numbers(n),
               .R = numbers(count),
               .dropout = dropout,
               .count = count};
    params_bind(&c.w, block, &config);
    params_bind(&dw, dblock.now, &config);
    LAYOUT(&arena, layout(&c, &arena, decodes));

    loss(&c);
    real *dX = copy_of(c.R, count);
    stack_backward(&c.stack, dX, dencoded, &dw, &c.w, &c.scratch);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, NULL, count);
    if (decodes) check_tensor(&check, "encoded", c.encoded, dencoded, NULL, n);
    check_params(&check, &params, decodes ? "model.decoder." : "model.encoder.", block,
                 dblock.now, dblock.before);
    check_report(&check);
    arena_free(&arena);
    params_free(&params);
}

static const Dropout DROPOUT = {
    .residual = 0.2, .activation = 0.1, .attention = 0.3, .seed = 5, .update = 2};

/* Each norm with and without dropout, and another activation. */
static const struct {
    const char *name;
    int norm, activation;
    const Dropout *dropout;
} cases[] = {
    {"post-norm", NORM_POST, ACTIVATION_RELU, NULL},
    {"post-norm, dropout", NORM_POST, ACTIVATION_RELU, &DROPOUT},
    {"pre-norm", NORM_PRE, ACTIVATION_RELU, NULL},
    {"pre-norm, dropout", NORM_PRE, ACTIVATION_RELU, &DROPOUT},
    {"pre-norm, GELU, dropout", NORM_PRE, ACTIVATION_GELU, &DROPOUT},
};

TEST(test_stacks)
{
    for (int decodes = 0; decodes < 2; decodes++) {
        config.encoder_layers = decodes ? 1 : 2, config.decoder_layers = decodes ? 2 : 1;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s, %s", decodes ? "decoder" : "encoder",
                     cases[i].name);
            config.norm = cases[i].norm, config.activation = cases[i].activation;
            check_case(name, decodes, cases[i].dropout);
            check_teardown(state);
        }
    }
}

TEST_MAIN("gradients/stacks", NULL, check_teardown)
