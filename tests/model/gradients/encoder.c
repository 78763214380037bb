/* encoder.c -- the whole stack that reads the source, every tensor of it, and its input. */
#include "tests/fixtures/stack.h"

#include "model/encoder.h"

typedef struct Case {
    Encoder encoder;
    Scratch scratch;
    real *X, *R;
    const real *Y;
    Weights w;
    const Dropout *dropout;
} Case;

static double loss(void *context)
{
    Case *c = context;
    c->Y = encoder_forward(&c->encoder, c->X, &c->w, &config, &c->scratch, c->dropout);
    return inner(c->Y, c->R, (size_t)source_rows.rows * (size_t)config.d_model);
}

static void layout(Case *c, Arena *arena)
{
    scratch_layout(&c->scratch, arena, &config, source_rows.rows, true);
    encoder_layout(&c->encoder, arena, &config, &source_rows, c->dropout, PASS_TRAIN);
}

static void check_case(const char *layer, const Dropout *dropout)
{
    static Case c;  // large
    static Weights dw;
    Params params;
    Arena arena = {0};
    size_t count = (size_t)source_rows.rows * (size_t)config.d_model;
    assert_true(params_table(&params, &config, NULL));
    real *block = numbers(params.size), *dblock = numbers(params.size);
    real *dblock0 = copy_of(dblock, params.size), *dX;
    c = (Case){.X = numbers(count), .R = numbers(count), .dropout = dropout};
    params_bind(&c.w, block, &config);
    params_bind(&dw, dblock, &config);
    layout(&c, &arena);
    assert_true(arena_reserve(&arena, NULL));
    layout(&c, &arena);

    loss(&c);
    dX = copy_of(c.R, count);
    encoder_backward(&c.encoder, dX, &dw, NULL, &c.w, &config, &c.scratch);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, NULL, count);
    check_params(&check, &params, "model.encoder.", block, dblock, dblock0);
    check_report(&check);
    arena_free(&arena);
    params_free(&params);
}

static void test_all_ways(void **state)
{
    (void)state;
    config.encoder_layers = 2;
    check_stack("encoder", check_case);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_ways, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/encoder", tests, NULL, NULL);
}
