/* linear.c -- the matrix of weights and its bias: dX set and added, dW and db added. */
#include "tests/fixtures/check.h"

#include "model/linear.h"

enum { N = 8, D_IN = 5, D_OUT = 7 };

typedef struct Case {
    real *Y, *X, *W, *b, *R;
} Case;

static double loss(void *context)
{
    Case *c = context;
    linear_forward(c->Y, c->X, &(Linear){.W.at = c->W}, c->b, N, D_OUT, D_IN);
    return inner(c->Y, c->R, N * D_OUT);
}

static void check_mode(GemmMode mode)
{
    Case c = {numbers(N * D_OUT), numbers(N * D_IN), numbers(D_OUT * D_IN), numbers(D_OUT),
              numbers(N * D_OUT)};
    Check check = {.layer = mode == SET ? "linear, dX set" : "linear, dX added",
                   .loss = loss,
                   .context = &c};
    real *dX = numbers(N * D_IN), *dX0 = copy_of(dX, N * D_IN);
    real *dW = numbers(D_OUT * D_IN), *dW0 = copy_of(dW, D_OUT * D_IN);
    real *db = numbers(D_OUT), *db0 = copy_of(db, D_OUT);
    linear_backward(mode, dX, &(Linear){.W.at = dW}, db, c.R, c.X, &(Linear){.W.at = c.W}, N,
                    D_OUT, D_IN);
    check_tensor(&check, "X", c.X, dX, mode == ADD ? dX0 : NULL, N * D_IN);
    check_tensor(&check, "W", c.W, dW, dW0, D_OUT * D_IN);
    check_tensor(&check, "b", c.b, db, db0, D_OUT);
    check_report(&check);
}

static void test_set(void **state)
{
    (void)state;
    check_mode(SET);
}

static void test_add(void **state)
{
    (void)state;
    check_mode(ADD);
}

/* A NULL bias is no bias, forward and backward. */
static void test_without_bias(void **state)
{
    (void)state;
    Case c = {numbers(N * D_OUT), numbers(N * D_IN), numbers(D_OUT * D_IN), NULL,
              numbers(N * D_OUT)};
    Check check = {.layer = "linear, no bias", .loss = loss, .context = &c};
    real *dX = numbers(N * D_IN), *dW = numbers(D_OUT * D_IN), *dW0 = copy_of(dW, D_OUT * D_IN);
    linear_backward(SET, dX, &(Linear){.W.at = dW}, NULL, c.R, c.X, &(Linear){.W.at = c.W}, N,
                    D_OUT, D_IN);
    check_tensor(&check, "X", c.X, dX, NULL, N * D_IN);
    check_tensor(&check, "W", c.W, dW, dW0, D_OUT * D_IN);
    check_report(&check);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_set, check_teardown),
        cmocka_unit_test_teardown(test_add, check_teardown),
        cmocka_unit_test_teardown(test_without_bias, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/linear", tests, NULL, NULL);
}
