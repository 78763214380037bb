/* loss.c -- the cross-entropy's values: against its definition in double, in blocks and alone, and
 * at scores so large that e^z overflows. */
#include <math.h>

#include "base/rng.h"
#include "kernels/gemm.h"
#include "model/loss.h"
#include "tests/fixtures/test.h"

/* Two blocks of rows and a rest; a chunk of classes and a rest. */
enum { M = 2 * LOSS_ROWS + 5, D = 8, V = 300, C = V - 1 };

static real X[M * D], E[V * D], bias[V];
static LossBuffers buffers;
static Arena arena;
static int target[M];

static int setup(void **state)
{
    (void)state;
    loss_layout(&buffers, &arena, M, V, D, true);
    if (!arena_reserve(&arena, NULL)) return -1;
    loss_layout(&buffers, &arena, M, V, D, true);
    Rng rng = rng_stream(1, RNG_TEST, 1);
    for (int i = 0; i < M * D; i++) X[i] = (real)rng_normal(&rng);
    for (int i = 0; i < V * D; i++) E[i] = (real)rng_normal(&rng);
    for (int i = 0; i < V; i++) bias[i] = (real)rng_normal(&rng);
    for (int i = 0; i < M; i++) target[i] = (int)rng_below(&rng, C);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
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

static void test_definition(void **state)
{
    (void)state;
    const double smoothing[] = {0, 0.1, 0.5};
    for (int i = 0; i < 3; i++) {
        Loss loss = {0};
        loss_forward(&loss, X, E, bias, target, smoothing[i], &buffers, M, V, D);
        assert_int_equal(loss.tokens, M);
        assert_true(fabs(loss.objective / definition(smoothing[i]) - 1) < 1e-6);
        assert_true(fabs(loss.nll / definition(0) - 1) < 1e-6);
    }
}

static void test_block_equals_alone(void **state)
{
    (void)state;
    Loss all = {0}, sum = {0};
    loss_forward(&all, X, E, bias, target, 0.1, &buffers, M, V, D);
    for (int n = 0; n < M; n++)
        loss_forward(&sum, X + n * D, E, bias, target + n, 0.1, &buffers, 1, V, D);
    assert_true(fabs(all.objective / sum.objective - 1) < 1e-6);
    assert_true(fabs(all.nll / sum.nll - 1) < 1e-6);
    assert_int_equal(all.tokens, sum.tokens);
}

/* No score for any token: every one is as likely, ln C. */
static void test_uniform(void **state)
{
    (void)state;
    const real zero[M * D] = {0}, level[V] = {0};
    Loss loss = {0};
    loss_forward(&loss, zero, E, level, target, 0.1, &buffers, M, V, D);
    assert_true(fabs(loss.nll / M - log(C)) < 1e-6);
    assert_true(fabs(loss.objective / M - log(C)) < 1e-6);
}

/* A token ten thousand ahead: e^10000 has no float, the loss has. */
static void test_extreme_scores(void **state)
{
    (void)state;
    const real zero[D] = {0};
    real ahead[V] = {0}, dX[D], dE[V * D] = {0}, dbias[V] = {0};
    const int sure = 3, wrong = 4;
    ahead[sure] = 10000;
    Loss loss = {0};
    loss_forward(&loss, zero, E, ahead, &sure, 0, &buffers, 1, V, D);
    assert_true(fabs(loss.nll) < 1e-30);
    loss = (Loss){0};
    loss_backward(&loss, dX, dE, dbias, NULL, 1, zero, E, ahead, &wrong, 0, &buffers, 1, V, D);
    assert_true(fabs(loss.nll - 10000) < 1e-2);
    assert_true(dbias[sure] == 1 && dbias[wrong] == -1);
    for (int k = 0; k < D; k++)
        assert_true(fabsf((float)(dX[k] - (E[sure * D + k] - E[wrong * D + k]))) < 1e-6f);
}

/* <pad>, the last id, has no score: its row and bias do not matter, even if they are no numbers. */
static void test_pad_is_no_class(void **state)
{
    (void)state;
    Loss before = {0}, after = {0};
    loss_forward(&before, X, E, bias, target, 0.1, &buffers, M, V, D);
    real kept = bias[C];
    bias[C] = (real)NAN;
    loss_forward(&after, X, E, bias, target, 0.1, &buffers, M, V, D);
    bias[C] = kept;
    assert_memory_equal(&before, &after, sizeof before);
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),      cmocka_unit_test(test_block_equals_alone),
        cmocka_unit_test(test_uniform),         cmocka_unit_test(test_extreme_scores),
        cmocka_unit_test(test_pad_is_no_class),
    };
    return cmocka_run_group_tests_name("loss", tests, setup, teardown);
}
