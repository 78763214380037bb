/* loss.c -- label-smoothed cross-entropy over more rows than are computed at a time. */
#include "tests/gradients/check.h"

#include "model/loss.h"

/* More rows than a block has; then more classes than a chunk has. */
enum { MOST_M = LOSS_ROWS + 5, D = 4, MOST_V = 260 };

typedef struct Case {
    int M, V;
    real *X, *E, *bias;
    LossBuffers buffers;
    int target[MOST_M];
    double smoothing, scale;
} Case;

static double loss(void *context)
{
    Case *c = context;
    Loss sum = {0};
    loss_forward(&sum, c->X, c->E, c->bias, c->target, c->smoothing, &c->buffers, c->M, c->V, D);
    return c->scale * sum.objective;
}

static void check_case(const char *layer, int M, int V, double smoothing, bool learn_bias)
{
    Case c = {.M = M,
              .V = V,
              .X = numbers(M * D),
              .E = numbers(V * D),
              .bias = numbers(V),
              .smoothing = smoothing,
              .scale = 0.7};
    for (int n = 0; n < M; n++) c.target[n] = (n * n + n / 5) % (V - 1);
    Arena arena = {0};
    loss_layout(&c.buffers, &arena, M, V, true);
    assert_true(arena_reserve(&arena, NULL));
    loss_layout(&c.buffers, &arena, M, V, true);

    real *dX = numbers(M * D), *dE = numbers(V * D), *dE0 = copy_of(dE, V * D);
    real *dbias = numbers(V), *dbias0 = copy_of(dbias, V);
    Loss forward = {0}, backward = {0};
    loss_forward(&forward, c.X, c.E, c.bias, c.target, smoothing, &c.buffers, M, V, D);
    loss_backward(&backward, dX, dE, learn_bias ? dbias : NULL, c.scale, c.X, c.E, c.bias,
                  c.target, smoothing, &c.buffers, M, V, D);
    assert_memory_equal(&forward, &backward, sizeof forward);
    assert_int_equal(forward.tokens, M);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, NULL, M * D);
    check_tensor(&check, "E", c.E, dE, dE0, V * D);
    check_untouched(dE + (V - 1) * D, dE0 + (V - 1) * D, D);  // <pad>
    if (learn_bias)
        check_tensor(&check, "bias", c.bias, dbias, dbias0, V);
    else
        check_untouched(dbias, dbias0, V);
    check_report(&check);
    arena_free(&arena);
}

static void test_plain(void **state)
{
    (void)state;
    check_case("loss", MOST_M, 7, 0, true);
    check_case("loss, bias not learned", MOST_M, 7, 0, false);
}

static void test_smoothing(void **state)
{
    (void)state;
    check_case("loss, smoothing 0.1", MOST_M, 7, 0.1, true);
    check_case("loss, many classes", 5, MOST_V, 0.1, true);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, check_teardown),
        cmocka_unit_test_teardown(test_smoothing, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/loss", tests, NULL, NULL);
}
