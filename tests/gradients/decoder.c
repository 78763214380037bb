/* decoder.c -- the whole stack that writes the target, every tensor of it, its input, and the
 * encoded source, whose gradient is a sum over the layers. */
#include "tests/gradients/check.h"

#include "model/decoder.h"

static ModelConfig config = {.vocab = 11,
                             .d_model = 6,
                             .heads = 2,
                             .ffn = 10,
                             .encoder_layers = 1,
                             .decoder_layers = 2,
                             .max_length = 8};

typedef struct Case {
    Decoder decoder;
    Scratch scratch;
    real *X, *encoded, *R;
    const real *Y;
    Weights w;
    const Dropout *dropout;
} Case;

static double loss(void *context)
{
    Case *c = context;
    c->Y =
        decoder_forward(&c->decoder, c->X, c->encoded, &c->w, &config, &c->scratch, c->dropout);
    return inner(c->Y, c->R, (size_t)target_rows.rows * (size_t)config.d_model);
}

static void layout(Case *c, Arena *arena)
{
    scratch_layout(&c->scratch, arena, &config, source_rows.rows, true);
    decoder_layout(&c->decoder, arena, &config, &target_rows, &source_rows, c->dropout,
                   PASS_TRAIN);
}

static void check_case(const char *layer, const Dropout *dropout)
{
    static Case c;  // large
    static Weights dw;
    Params params;
    Arena arena = {0};
    size_t m = (size_t)target_rows.rows * (size_t)config.d_model;
    size_t n = (size_t)source_rows.rows * (size_t)config.d_model;
    assert_true(params_table(&params, &config, NULL));
    real *block = numbers(params.size), *dblock = numbers(params.size);
    real *dblock0 = copy_of(dblock, params.size), *dX, *dencoded = numbers(n);
    c = (Case){.X = numbers(m), .encoded = numbers(n), .R = numbers(m), .dropout = dropout};
    params_bind(&c.w, block, &config);
    params_bind(&dw, dblock, &config);
    layout(&c, &arena);
    assert_true(arena_reserve(&arena, NULL));
    layout(&c, &arena);

    loss(&c);
    dX = copy_of(c.R, m);
    decoder_backward(&c.decoder, dX, dencoded, &dw, c.encoded, &c.w, &config, &c.scratch);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, NULL, m);
    check_tensor(&check, "encoded", c.encoded, dencoded, NULL, n);
    check_params(&check, &params, "model.decoder.", block, dblock, dblock0);
    check_report(&check);
    arena_free(&arena);
    params_free(&params);
}

static const Dropout DROPOUT = {
    .residual = 0.2, .activation = 0.1, .attention = 0.3, .seed = 5, .update = 2};

static void test_post_norm(void **state)
{
    (void)state;
    config.norm = NORM_POST, config.activation = ACTIVATION_RELU;
    check_case("decoder", NULL);
    check_case("decoder, dropout", &DROPOUT);
}

static void test_pre_norm(void **state)
{
    (void)state;
    config.norm = NORM_PRE, config.activation = ACTIVATION_RELU;
    check_case("decoder, pre-norm", NULL);
    check_case("decoder, pre-norm, dropout", &DROPOUT);
    config.activation = ACTIVATION_GELU;
    check_case("decoder, pre-norm, GELU, dropout", &DROPOUT);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_post_norm, check_teardown),
        cmocka_unit_test_teardown(test_pre_norm, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/decoder", tests, NULL, NULL);
}
