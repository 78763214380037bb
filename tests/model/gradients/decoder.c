/* decoder.c -- the whole stack that writes the target, every tensor of it, its input, and the
 * encoded source, whose gradient is a sum over the layers. */
#include "tests/fixtures/stack.h"

#include "model/decoder.h"

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
    decoder_backward(&c.decoder, dX, dencoded, &dw, NULL, c.encoded, &c.w, &config, &c.scratch);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, NULL, m);
    check_tensor(&check, "encoded", c.encoded, dencoded, NULL, n);
    check_params(&check, &params, "model.decoder.", block, dblock, dblock0);
    check_report(&check);
    arena_free(&arena);
    params_free(&params);
}

static void test_all_ways(void **state)
{
    (void)state;
    config.decoder_layers = 2;
    check_stack("decoder", check_case);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_ways, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/decoder", tests, NULL, NULL);
}
