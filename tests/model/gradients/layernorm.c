/* layernorm.c -- the residual sum and its normalisation, with and without dropout, and with the
 * sum itself going on past the norm, too; a norm alone. */
#include "tests/fixtures/check.h"

#include "model/dropout.h"
#include "model/layernorm.h"

enum { N = 8, D = 12 };

typedef struct Case {
    real *Y, *sum, *X, *F, *bias, *R;
    const real *R_sum;  // what the loss gives the sum that goes past the norm; NULL: nothing
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
    layernorm_forward(c->Y, c->sum, &c->saved, c->X, branch(c), c->w, N, D);
    const real *past = c->F ? c->sum : c->X;
    return inner(c->Y, c->R, N * D) + (c->R_sum ? inner(past, c->R_sum, N * D) : 0);
}

static Case make(uint8_t *keep, real scale)
{
    Case c = {.Y = numbers(N * D),
              .X = numbers(N * D),
              .F = numbers(N * D),
              .bias = numbers(D),
              .R = numbers(N * D),
              .keep = keep,
              .scale = scale,
              .w = {numbers(D), numbers(D)},
              .saved = {.normal = numbers(N * D), .rstd = numbers(N)}};
    c.sum = c.saved.normal;  // as post-norm has it
    return c;
}

/* in_place: dX is where dY was, as the network calls it. */
static void check_case(const char *layer, Case c, bool in_place)
{
    Check check = {.layer = layer, .loss = loss, .context = &c};
    real *dY = copy_of(c.R, N * D), *dX = in_place ? dY : numbers(N * D);
    if (c.R_sum) memcpy(dX, c.R_sum, N * D * sizeof *dX);
    real *dF = c.keep ? numbers(N * D) : dX;
    real *dbias = numbers(D), *dbias0 = copy_of(dbias, D);
    NormWeights dw = {numbers(D), numbers(D)};
    real *dg0 = copy_of(dw.g, D), *db0 = copy_of(dw.b, D);
    loss(&c);
    layernorm_backward(c.R_sum ? ADD : SET, dX, dF, c.F ? dbias : NULL, dw, dY, &c.saved,
                       branch(&c), c.w, N, D);
    check_tensor(&check, "X", c.X, dX, NULL, N * D);
    if (c.F) check_tensor(&check, "F", c.F, dF, NULL, N * D);
    if (c.F) check_tensor(&check, "bias", c.bias, dbias, dbias0, D);
    check_tensor(&check, "g", c.w.g, dw.g, dg0, D);
    check_tensor(&check, "b", c.w.b, dw.b, db0, D);
    check_report(&check);
}

/* As pre-norm has it: the sum goes on, in a buffer of its own. */
static Case make_past(uint8_t *keep, real scale)
{
    Case c = make(keep, scale);
    c.sum = numbers(N * D);
    c.R_sum = numbers(N * D);
    return c;
}

/* And its first norm: X goes on as it is, and nothing is added to it. */
static Case make_alone(void)
{
    Case c = make_past(NULL, 1);
    c.F = c.sum = NULL;
    return c;
}

static void test_plain(void **state)
{
    (void)state;
    check_case("layernorm", make(NULL, 1), false);
    check_case("layernorm, in place", make(NULL, 1), true);
    check_case("layernorm, past it", make_past(NULL, 1), false);
    check_case("layernorm, alone", make_alone(), false);
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
    check_case("layernorm, dropout, past it", make_past(keep, scale), false);
}

/* Y may be X; so may the sum. */
static void test_forward_in_place(void **state)
{
    (void)state;
    Case c = make(NULL, 1);
    loss(&c);
    layernorm_forward(c.X, c.sum, &c.saved, c.X, branch(&c), c.w, N, D);
    assert_memory_equal(c.X, c.Y, N * D * sizeof *c.X);

    c = make_past(NULL, 1);
    loss(&c);
    real *Y = numbers(N * D);
    layernorm_forward(Y, c.X, &c.saved, c.X, branch(&c), c.w, N, D);
    assert_memory_equal(Y, c.Y, N * D * sizeof *Y);
    assert_memory_equal(c.X, c.sum, N * D * sizeof *Y);
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
