/* loss.c -- label-smoothed cross-entropy over more rows than are computed at a time. */
#include "tests/fixtures/output.h"

typedef struct Case {
    Output o;
    LossBuffers buffers;
} Case;

static double loss(void *context)
{
    Case *c = context;
    const Output *o = &c->o;
    Loss sum = {0};
    loss_forward(&sum, o->X, o->E, o->bias, o->target, o->smoothing, &c->buffers, o->M, o->V,
                 D);
    return o->scale * sum.objective;
}

static void check_case(const char *layer, int M, int V, double smoothing, bool learn_bias)
{
    Case c = {.o = output_make(M, V, smoothing)};
    Output *o = &c.o;
    for (int n = 0; n < M; n++) o->target[n] = (n * n + n / 5) % (V - 1);
    Arena arena = {0};
    loss_layout(&c.buffers, &arena, M, V, D, true);
    assert_true(arena_reserve(&arena, NULL));
    loss_layout(&c.buffers, &arena, M, V, D, true);

    Loss forward = {0}, backward = {0};
    loss_forward(&forward, o->X, o->E, o->bias, o->target, smoothing, &c.buffers, M, V, D);
    loss_backward(&backward, o->dX, o->dE, learn_bias ? o->dbias : NULL, NULL, o->scale, o->X,
                  o->E, o->bias, o->target, smoothing, &c.buffers, M, V, D);
    assert_memory_equal(&forward, &backward, sizeof forward);
    assert_int_equal(forward.tokens, M);
    output_check(layer, loss, &c, o, learn_bias);
    arena_free(&arena);
}

static void test_plain(void **state)
{
    (void)state;
    check_case("loss", MANY_ROWS, 7, 0, true);
    check_case("loss, bias not learned", MANY_ROWS, 7, 0, false);
}

static void test_smoothing(void **state)
{
    (void)state;
    check_case("loss, smoothing 0.1", MANY_ROWS, 7, 0.1, true);
    check_case("loss, many classes", 5, MANY_CLASSES, 0.1, true);
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
