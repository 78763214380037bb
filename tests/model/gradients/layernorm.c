/* layernorm.c -- gradients of the residual connection and layer normalisation, as post-norm and
 * pre-norm use them. */
#include "model/layernorm.h"
#include "model/dropout.h"
#include "tests/fixtures/check.h"

enum { N = 8, D = 12 };

static const ModelConfig config = {.d_model = D};

typedef struct Case {
    real *Y, *sum, *X, *F, *R;
    const real *R_sum;  // weights of the sum in the loss; NULL: only Y counts
    NormWeights w;
    LayerNormSaved saved;
} Case;

static double loss(void *context)
{
    Case *c = context;
    layernorm_forward(c->Y, c->sum, &c->saved, c->X, c->F, c->w, N);
    const real *sum = c->F ? c->sum : c->X;
    return inner(c->Y, c->R, N * D) + (c->R_sum ? inner(sum, c->R_sum, N * D) : 0);
}

/* Post-norm: the sum is overwritten by x̂.   mask: NULL without dropout */
static Case post_norm(const DropoutMask *mask)
{
    Case c = {.Y = numbers(N * D),
              .X = numbers(N * D),
              .F = numbers(N * D),
              .R = numbers(N * D),
              .w = {numbers(D), numbers(D)},
              .saved = {&config, numbers(N * D), numbers(N), mask ? *mask : (DropoutMask){0}}};
    c.sum = c.saved.normal;
    return c;
}

/* Pre-norm: the sum has its own buffer and is the next residual. */
static Case pre_norm(const DropoutMask *mask)
{
    Case c = post_norm(mask);
    c.sum = numbers(N * D);
    c.R_sum = numbers(N * D);
    return c;
}

/* The first norm of a pre-norm stack: X is the next residual, nothing is added to it. */
static Case first_norm(void)
{
    Case c = pre_norm(NULL);
    c.F = c.sum = NULL;
    return c;
}

/* in_place: dX is dY, as the network calls it. */
static void check_case(const char *layer, Case c, bool in_place)
{
    Check check = {.layer = layer, .loss = loss, .context = &c};
    real *dY = copy_of(c.R, N * D), *dX = in_place ? dY : numbers(N * D);
    if (c.R_sum) memcpy(dX, c.R_sum, N * D * sizeof *dX);
    real *dF = c.saved.mask.keep ? numbers(N * D) : dX;
    Added dg = added(D), db = added(D);
    loss(&c);
    layernorm_backward(c.R_sum ? ADD : SET, dX, dF, (NormWeights){dg.now, db.now}, dY, &c.saved,
                       c.w, N);
    check_tensor(&check, "X", c.X, dX, NULL, N * D);
    if (c.F) check_tensor(&check, "F", c.F, dF, NULL, N * D);
    check_added(&check, "g", c.w.g, dg, D);
    check_added(&check, "b", c.w.b, db, D);
    check_report(&check);
}

static void test_orders(void **state)
{
    (void)state;
    const Dropout dropout = {.seed = 5, .update = 2};
    uint8_t keep[N * D];
    const DropoutMask mask = {keep, 0.3, dropout_scale(0.3)};
    dropout_rows(&mask, &target_rows, D, &dropout, 1);
    for (int kept = 0; kept < 2; kept++) assert_non_null(memchr(keep, kept, sizeof keep));
    check_case("post-norm", post_norm(NULL), false);
    check_case("post-norm, in place", post_norm(NULL), true);
    check_case("pre-norm", pre_norm(NULL), false);
    check_case("pre-norm, first", first_norm(), false);
    check_case("post-norm, dropout", post_norm(&mask), false);
    check_case("post-norm, dropout, in place", post_norm(&mask), true);
    check_case("pre-norm, dropout", pre_norm(&mask), false);
}

/* Y may be X; so may the sum. */
static void test_forward_in_place(void **state)
{
    (void)state;
    Case c = post_norm(NULL);
    loss(&c);
    layernorm_forward(c.X, c.sum, &c.saved, c.X, c.F, c.w, N);
    assert_memory_equal(c.X, c.Y, N * D * sizeof *c.X);

    c = pre_norm(NULL);
    loss(&c);
    real *Y = numbers(N * D);
    layernorm_forward(Y, c.X, &c.saved, c.X, c.F, c.w, N);
    assert_memory_equal(Y, c.Y, N * D * sizeof *Y);
    assert_memory_equal(c.X, c.sum, N * D * sizeof *Y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_orders, check_teardown),
        cmocka_unit_test_teardown(test_forward_in_place, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/layernorm", tests, NULL, NULL);
}
