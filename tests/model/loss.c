/* loss.c -- values of label-smoothed cross-entropy: against the definition in double, in
 * several blocks, and with logits so large that e^z overflows. */
#include "model/loss.h"
#include "base/rng.h"
#include "kernels/gemm.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/test.h"

/* Two full blocks of rows and a partial one; a full chunk of classes and a partial one. */
enum { M = 2 * LOSS_ROWS + 5, D = 8, V = 300, C = V - 1 };

static real X[M * D], E[V * D], bias[V];
static OutputLayer layer = {E, bias, C, D, SET};
static LossBuffers buffers;
static Arena arena;
static int target[M];

FIXTURE(setup)
{
    LAYOUT(&arena, loss_layout(&buffers, &arena, M, &layer, true, false));
    Rng rng = rng_stream(1, RNG_TEST, 1);
    for (int i = 0; i < M * D; i++) X[i] = (real)rng_normal(&rng);
    for (int i = 0; i < V * D; i++) E[i] = (real)rng_normal(&rng);
    for (int i = 0; i < V; i++) bias[i] = (real)rng_normal(&rng);
    for (int i = 0; i < M; i++) target[i] = (int)rng_below(&rng, C);
    return 0;
}

FIXTURE(teardown)
{
    arena_free(&arena);
    return 0;
}

/* Σ over rows of Σ_c q_c (-ln p_c) with q the smoothed target, term by term in double. */
static double definition(double smoothing)
{
    double sum = 0;
    for (int n = 0; n < M; n++) {
        double z[C], total = 0;
        for (int c = 0; c < C; c++) {
            z[c] = (double)bias[c];
            for (int k = 0; k < D; k++) z[c] += (double)X[n * D + k] * (double)E[c * D + k];
            total += exp(z[c]);
        }
        for (int c = 0; c < C; c++)
            sum -=
                ((c == target[n] ? 1 - smoothing : 0) + smoothing / C) * log(exp(z[c]) / total);
    }
    return sum;
}

/* The loss of `rows` rows from x on. */
static Loss loss_of(const real *x, real *its_bias, const int *its_target, double smoothing,
                    int rows)
{
    Loss loss = {0};
    OutputLayer w = {E, its_bias, C, D, SET};
    loss_backward(&loss, NULL, NULL, x, &w,
                  &(Objective){.target = its_target, .smoothing = smoothing, .scale = 1},
                  &buffers, rows);
    return loss;
}

TEST(test_definition)
{
    const double smoothing[] = {0, 0.1, 0.5};
    for (int i = 0; i < 3; i++) {
        Loss loss = loss_of(X, bias, target, smoothing[i], M);
        assert_int_equal(loss.tokens, M);
        assert_true(fabs(loss.objective / definition(smoothing[i]) - 1) < 1e-6);
        assert_true(fabs(loss.nll / definition(0) - 1) < 1e-6);
    }
}

/* One logit is 10000: e^10000 overflows, the loss does not. */
TEST(test_extreme_logits)
{
    const real zero[D] = {0};
    real ahead[V] = {0}, dX[D], dE[V * D] = {0}, dbias[V] = {0};
    const int sure = 3, wrong = 4;
    ahead[sure] = 10000;
    assert_true(fabs(loss_of(zero, ahead, &sure, 0, 1).nll) < 1e-30);
    Loss loss = {0};
    OutputLayer w = {E, ahead, C, D, SET}, dw = {dE, dbias, C, D, SET};
    loss_backward(&loss, dX, &dw, zero, &w, &(Objective){.target = &wrong, .scale = 1},
                  &buffers, 1);
    assert_true(fabs(loss.nll - 10000) < 1e-2);
    assert_true(dbias[sure] == 1 && dbias[wrong] == -1);
    for (int k = 0; k < D; k++)
        assert_true(fabsf((float)(dX[k] - (E[sure * D + k] - E[wrong * D + k]))) < 1e-6f);
}

/* <pad>, the last id, is no class: its bias is not read, even if it is NaN. */
TEST(test_pad_is_no_class)
{
    Loss before = loss_of(X, bias, target, 0.1, M);
    real kept = bias[C];
    bias[C] = (real)NAN;
    Loss after = loss_of(X, bias, target, 0.1, M);
    bias[C] = kept;
    assert_memory_equal(&before, &after, sizeof before);
}

KINDS_MAIN("loss", setup, teardown)
