/* feedforward.c -- the two matrices with a ReLU between them, with and without dropout. */
#include "tests/gradients/check.h"

#include "model/feedforward.h"
#include "model/linear.h"

enum { N = 8, D = 5, F = 9, PLACE = 9 };

typedef struct Case {
    FeedforwardSaved saved;
    real *Y, *X, *R;
    FeedforwardWeights w;
    const Dropout *dropout;
} Case;

static double loss(void *context)
{
    Case *c = context;
    feedforward_forward(c->Y, &c->saved, c->X, &c->w, &target_rows, D, F, c->dropout, PLACE);
    return inner(c->Y, c->R, N * D);
}

static FeedforwardWeights weights(void)
{
    return (FeedforwardWeights){{numbers(F * D), numbers(F)}, {numbers(D * F), numbers(D)}};
}

/* A difference across the ReLU's kink is no derivative: these numbers stay away from it, and lie
 * on both of its sides. */
static void assert_no_kink(const Case *c)
{
    real *A = numbers(N * F);
    int positive = 0;
    linear_forward(A, c->X, c->w.fc1.W, c->w.fc1.b, N, F, D);
    for (int i = 0; i < N * F; i++) {
        assert_true(fabs(A[i]) > 2 * STEP);
        positive += A[i] > 0;
    }
    assert_in_range(positive, N * F / 4, N * F * 3 / 4);
}

static void check_case(const char *layer, GemmMode mode, double rate)
{
    const Dropout dropout = {.activation = rate, .seed = 5, .update = 2};
    Case c = {.Y = numbers(N * D),
              .X = numbers(N * D),
              .R = numbers(N * D),
              .w = weights(),
              .dropout = rate > 0 ? &dropout : NULL};
    Arena arena = {0};
    feedforward_layout(&c.saved, &arena, N, F, c.dropout);
    assert_true(arena_reserve(&arena, NULL));
    feedforward_layout(&c.saved, &arena, N, F, c.dropout);
    assert_no_kink(&c);

    real *dX = numbers(N * D), *dX0 = copy_of(dX, N * D);
    FeedforwardWeights dw = weights();
    FeedforwardWeights dw0 = {{copy_of(dw.fc1.W, F * D), copy_of(dw.fc1.b, F)},
                              {copy_of(dw.fc2.W, D * F), copy_of(dw.fc2.b, D)}};
    loss(&c);
    feedforward_backward(mode, dX, &dw, numbers(N * F), c.R, &c.saved, c.X, &c.w, N, D, F);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, mode == ADD ? dX0 : NULL, N * D);
    check_tensor(&check, "fc1.weight", c.w.fc1.W, dw.fc1.W, dw0.fc1.W, F * D);
    check_tensor(&check, "fc1.bias", c.w.fc1.b, dw.fc1.b, dw0.fc1.b, F);
    check_tensor(&check, "fc2.weight", c.w.fc2.W, dw.fc2.W, dw0.fc2.W, D * F);
    check_untouched(dw.fc2.b, dw0.fc2.b, D);
    check_report(&check);
    arena_free(&arena);
}

static void test_plain(void **state)
{
    (void)state;
    check_case("feedforward, dX set", SET, 0);
    check_case("feedforward, dX added", ADD, 0);
}

static void test_dropout(void **state)
{
    (void)state;
    check_case("feedforward, dropout", ADD, 0.3);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, check_teardown),
        cmocka_unit_test_teardown(test_dropout, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/feedforward", tests, NULL, NULL);
}
