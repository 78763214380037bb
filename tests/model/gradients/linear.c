/* linear.c -- gradients of a weight matrix and its bias: dX set and added, dW and db added. */
#include "model/linear.h"
#include "tests/fixtures/check.h"

enum { N = 8, D_IN = 5, D_OUT = 7 };

typedef struct Case {
    real *Y, *X, *W, *b, *R;
} Case;

static double loss(void *context)
{
    Case *c = context;
    linear_forward(c->Y, c->X, &(Linear){.W.at = c->W, .b = c->b}, N, D_OUT, D_IN);
    return inner(c->Y, c->R, N * D_OUT);
}

static void check_case(const char *layer, GemmMode mode)
{
    Case c = {numbers(N * D_OUT), numbers(N * D_IN), numbers(D_OUT * D_IN), numbers(D_OUT),
              numbers(N * D_OUT)};
    Check check = {.layer = layer, .loss = loss, .context = &c};
    Added dX = added(N * D_IN), dW = added(D_OUT * D_IN), db = added(D_OUT);
    linear_backward(mode, dX.now, &(Linear){.W.at = dW.now, .b = db.now}, c.R, c.X,
                    &(Linear){.W.at = c.W}, N, D_OUT, D_IN);
    check_tensor(&check, "X", c.X, dX.now, mode == ADD ? dX.before : NULL, N * D_IN);
    check_added(&check, "W", c.W, dW, D_OUT * D_IN);
    check_added(&check, "b", c.b, db, D_OUT);
    check_report(&check);
}

TEST(test_modes)
{
    check_case("linear, dX set", SET);
    check_case("linear, dX added", ADD);
}

TEST_MAIN("gradients/linear", NULL, check_teardown)
