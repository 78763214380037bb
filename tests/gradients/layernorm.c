/* layernorm.c -- the residual sum and its normalisation, with and without dropout. */
#include "tests/gradients/check.h"

#include "model/dropout.h"
#include "model/layernorm.h"

enum { N = 8, D = 12 };

typedef struct Case {
    real *Y, *X, *F, *bias, *R;
    uint8_t *keep;
    real scale;
    NormWeights w;
    LayerNormSaved saved;
} Case;

static Branch branch(const Case *c)
{
    return (Branch){c->F, c->bias, c->keep, c->scale};
}

static double loss(void *context)
{
    Case *c = context;
    layernorm_forward(c->Y, &c->saved, c->X, branch(c), c->w, N, D);
    return inner(c->Y, c->R, N * D);
}

static Case make(uint8_t *keep, real scale)
{
    return (Case){.Y = numbers(N * D),
                  .X = numbers(N * D),
                  .F = numbers(N * D),
                  .bias = numbers(D),
                  .R = numbers(N * D),
                  .keep = keep,
                  .scale = scale,
                  .w = {numbers(D), numbers(D)},
                  .saved = {.normal = numbers(N * D), .rstd = numbers(N)}};
}

/* in_place: dX is where dY was, as the network calls it. */
static void check_case(const char *layer, Case c, bool in_place)
{
    Check check = {.layer = layer, .loss = loss, .context = &c};
    real *dY = copy_of(c.R, N * D), *dX = in_place ? dY : numbers(N * D);
    real *dF = c.keep ? numbers(N * D) : dX;
    real *dbias = numbers(D), *dbias0 = copy_of(dbias, D);
    NormWeights dw = {numbers(D), numbers(D)};
    real *dg0 = copy_of(dw.g, D), *db0 = copy_of(dw.b, D);
    loss(&c);
    layernorm_backward(dX, dF, dbias, dw, dY, &c.saved, branch(&c), c.w, N, D);
    check_tensor(&check, "X", c.X, dX, NULL, N * D);
    check_tensor(&check, "F", c.F, dF, NULL, N * D);
    check_tensor(&check, "bias", c.bias, dbias, dbias0, D);
    check_tensor(&check, "g", c.w.g, dw.g, dg0, D);
    check_tensor(&check, "b", c.w.b, dw.b, db0, D);
    check_report(&check);
}

static void test_plain(void **state)
{
    (void)state;
    check_case("layernorm", make(NULL, 1), false);
    check_case("layernorm, in place", make(NULL, 1), true);
}

static void test_dropout(void **state)
{
    (void)state;
    const Dropout dropout = {.residual = 0.3, .seed = 5, .update = 2};
    uint8_t keep[N * D];
    dropout_rows(keep, &target_rows, D, &dropout, dropout.residual, 1);
    assert_non_null(memchr(keep, 0, sizeof keep));
    assert_non_null(memchr(keep, 1, sizeof keep));
    real scale = dropout_scale(dropout.residual);
    check_case("layernorm, dropout", make(keep, scale), false);
    check_case("layernorm, dropout, in place", make(keep, scale), true);
}

/* Y may be X. */
static void test_forward_in_place(void **state)
{
    (void)state;
    Case c = make(NULL, 1);
    loss(&c);
    layernorm_forward(c.X, &c.saved, c.X, branch(&c), c.w, N, D);
    assert_memory_equal(c.X, c.Y, N * D * sizeof *c.X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, check_teardown),
        cmocka_unit_test_teardown(test_dropout, check_teardown),
        cmocka_unit_test_teardown(test_forward_in_place, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/layernorm", tests, NULL, NULL);
}
