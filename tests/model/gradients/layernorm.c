/* layernorm.c -- gradients of layer normalisation, of the residual connection around a sublayer
 * and of its dropout, as post-norm and pre-norm order them. */
#include "model/addnorm.h"
#include "tests/fixtures/check.h"

enum { D = 12, PLACE = 3 };

typedef struct Case {
    AddNorm a;
    real *X, *F, *R, *R_input;  // the loss: Y · R + the sublayer's input · R_input
    NormWeights w;
    int N;
} Case;

static double loss(void *context)
{
    Case *c = context;
    size_t count = (size_t)(c->N * D);
    double sum = inner(addnorm_input(&c->a, c->X, c->w, c->N), c->R_input, count);
    return sum + inner(addnorm_output(&c->a, c->X, c->F, c->w, &target_rows), c->R, count);
}

static void check_case(const char *layer, Norm norm, double rate)
{
    const ModelConfig config = {.d_model = D, .norm = norm};
    const Dropout dropout = {.residual = rate, .seed = 5, .update = 2};
    size_t count = (size_t)(target_rows.rows * D);
    Case c = {.X = numbers(count),
              .F = numbers(count),
              .R = numbers(count),
              .R_input = numbers(count),
              .w = {numbers(D), numbers(D)},
              .N = target_rows.rows};
    Arena arena = {0};
    real *stream = norm == NORM_PRE ? numbers(count) : NULL;
    LAYOUT(&arena, addnorm_layout(&c.a, &arena, &config, c.N, stream, &dropout, PLACE));
    Added dg = added(D), db = added(D);
    NormWeights dw = {dg.now, db.now};
    real *dX = copy_of(c.R, count), *dF = numbers(count);
    loss(&c);
    const real *dF_is = addnorm_output_backward(&c.a, dX, dF, dw, c.w, c.N);
    dF = copy_of(dF_is, count);
    assert_true((dF_is == dX) == (rate == 0));
    if (norm == NORM_PRE) addnorm_input_backward(&c.a, dX, c.R_input, dw, c.w, c.N);
    else
        for (size_t i = 0; i < count; i++) dX[i] += c.R_input[i];

    Check check = {.layer = layer, .loss = loss, .context = &c};
    for (int kept = 0; kept < 2 && rate > 0; kept++)
        assert_non_null(memchr(c.a.mask.keep, kept, count));
    check_tensor(&check, "X", c.X, dX, NULL, count);
    check_tensor(&check, "F", c.F, dF, NULL, count);
    check_added(&check, "g", c.w.g, dg, D);
    check_added(&check, "b", c.w.b, db, D);
    check_report(&check);
    arena_free(&arena);
}

TEST(test_orders)
{
    check_case("post-norm", NORM_POST, 0);
    check_case("post-norm, dropout", NORM_POST, 0.3);
    check_case("pre-norm", NORM_PRE, 0);
    check_case("pre-norm, dropout", NORM_PRE, 0.3);
}

/* Y may be X, and so may what backward sets. */
TEST(test_in_place)
{
    enum { N = 8 };
    const ModelConfig config = {.d_model = D};
    LayerNormSaved saved = {&config, numbers(N * D), numbers(N)};
    NormWeights w = {numbers(D), numbers(D)}, dw = {numbers(D), numbers(D)};
    real *X = numbers(N * D), *Y = numbers(N * D), *dX = numbers(N * D), *dY = numbers(N * D);
    layernorm_forward(Y, &saved, X, w, N);
    layernorm_forward(X, &saved, X, w, N);
    assert_memory_equal(X, Y, N * D * sizeof *X);
    layernorm_backward(SET, dX, dw, dY, &saved, w, N);
    layernorm_backward(SET, dY, dw, dY, &saved, w, N);
    assert_memory_equal(dX, dY, N * D * sizeof *dX);
}

TEST_MAIN("gradients/layernorm", NULL, check_teardown)
