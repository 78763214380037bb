/* feedforward.c -- gradients of the feed-forward network with each activation. */
#include "model/feedforward.h"
#include "model/linear.h"
#include "tests/fixtures/check.h"

enum { N = 8, D = 5, F = 9, PLACE = 9 };

typedef struct Case {
    FeedforwardSaved saved;
    real *Y, *X, *R;
    FeedforwardWeights w;
} Case;

static double loss(void *context)
{
    Case *c = context;
    feedforward_forward(c->Y, &c->saved, c->X, &c->w, &target_rows);
    return inner(c->Y, c->R, N * D);
}

/* A difference across the kink of ReLU is no derivative: no number may be near it, and both
 * sides must occur. */
static void assert_no_kink(const Case *c)
{
    real *A = numbers(N * F);
    int positive = 0;
    linear_forward(A, c->X, &c->w.fc1, N, F, D);
    for (int i = 0; i < N * F; i++) {
        assert_true(fabs(A[i]) > 2 * STEP);
        positive += A[i] > 0;
    }
    assert_in_range(positive, N * F / 4, N * F * 3 / 4);
}

static void check_case(const char *layer, Activation activation, GemmMode mode, double rate)
{
    const ModelConfig config = {.d_model = D, .ffn = F, .activation = activation};
    const Dropout dropout = {.activation = rate, .seed = 5, .update = 2};
    Case c = {.Y = numbers(N * D),
              .X = numbers(N * D),
              .R = numbers(N * D),
              .w = {{.W.at = numbers(F * D), .b = numbers(F)},
                    {.W.at = numbers(D * F), .b = numbers(D)}}};
    Arena arena = {0};
    LAYOUT(&arena,
           feedforward_layout(&c.saved, &arena, N, &config, rate > 0 ? &dropout : NULL, PLACE));
    if (activation == ACTIVATION_RELU) assert_no_kink(&c);

    Added dX = added(N * D), dW1 = added(F * D), db1 = added(F), dW2 = added(D * F);
    Added db2 = added(D);
    FeedforwardWeights dw = {{.W.at = dW1.now, .b = db1.now}, {.W.at = dW2.now, .b = db2.now}};
    loss(&c);
    feedforward_backward(mode, dX.now, &dw, numbers(N * F), c.R, &c.saved, &c.w, N);

    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX.now, mode == ADD ? dX.before : NULL, N * D);
    check_added(&check, "fc1.weight", c.w.fc1.W.at, dW1, F * D);
    check_added(&check, "fc1.bias", c.w.fc1.b, db1, F);
    check_added(&check, "fc2.weight", c.w.fc2.W.at, dW2, D * F);
    check_added(&check, "fc2.bias", c.w.fc2.b, db2, D);
    check_report(&check);
    arena_free(&arena);
}

TEST(test_activations)
{
    check_case("feedforward, dX set", ACTIVATION_RELU, SET, 0);
    check_case("feedforward, dX added", ACTIVATION_RELU, ADD, 0);
    check_case("feedforward, dropout", ACTIVATION_RELU, ADD, 0.3);
    check_case("feedforward, GELU", ACTIVATION_GELU, ADD, 0);
    check_case("feedforward, GELU, dropout", ACTIVATION_GELU, SET, 0.3);
    check_case("feedforward, Swish", ACTIVATION_SWISH, SET, 0);
    check_case("feedforward, Swish, dropout", ACTIVATION_SWISH, ADD, 0.3);
}

TEST_MAIN("gradients/feedforward", NULL, check_teardown)
