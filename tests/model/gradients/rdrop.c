/* rdrop.c -- R-Drop's two cross-entropies and their divergence, over more pairs of rows than
 * are computed at a time and over more classes than a chunk has; and the objective by its
 * definition. */
#include "tests/fixtures/output.h"

#include "model/rdrop.h"

typedef struct Case {
    Output o;
    RDropBuffers buffers;
    double A;
} Case;

static double loss(void *context)
{
    Case *c = context;
    const Output *o = &c->o;
    Loss sum = {0};
    rdrop_forward(&sum, o->X, o->E, o->bias, o->target, o->smoothing, c->A, &c->buffers, o->M,
                  o->V, D);
    return o->scale * sum.objective;
}

/* ln p [C] (=) of row n, as one would write it down. */
static void log_softmax(double *ln_p, const Case *c, int n)
{
    int C = c->o.V - 1;
    double sum = 0;
    for (int k = 0; k < C; k++) {
        ln_p[k] = (double)c->o.bias[k];
        for (int i = 0; i < D; i++)
            ln_p[k] += (double)c->o.X[n * D + i] * (double)c->o.E[k * D + i];
        sum += exp(ln_p[k]);
    }
    for (int k = 0; k < C; k++) ln_p[k] -= log(sum);
}

/* Equations 1 to 3 of the paper, with label smoothing in the first. */
static Loss by_definition(const Case *c)
{
    int C = c->o.V - 1;
    Loss sum = {.tokens = c->o.M};
    for (int n = 0; n < c->o.M / 2; n++) {
        double ln_p[MANY_CLASSES], ln_q[MANY_CLASSES], p_q = 0, q_p = 0;
        int t = c->o.target[n];
        log_softmax(ln_p, c, n);
        log_softmax(ln_q, c, n + c->o.M / 2);
        for (int k = 0; k < C; k++) {
            double share = (k == t ? 1 - c->o.smoothing : 0) + c->o.smoothing / C;
            sum.objective -= share * (ln_p[k] + ln_q[k]);
            p_q += exp(ln_p[k]) * (ln_p[k] - ln_q[k]);
            q_p += exp(ln_q[k]) * (ln_q[k] - ln_p[k]);
        }
        sum.objective += c->A * (p_q + q_p) / 2;
        sum.nll -= ln_p[t] + ln_q[t];
    }
    return sum;
}

static void check_case(const char *layer, int M, int V, double smoothing, double A,
                       bool learn_bias)
{
    Case c = {.o = output_make(M, V, smoothing), .A = A};
    Output *o = &c.o;
    for (int n = 0; n < M; n++) {
        int pair = n % (M / 2);
        o->target[n] = (pair * pair + pair / 5) % (V - 1);
    }
    Arena arena = {0};
    rdrop_layout(&c.buffers, &arena, M, V, D);
    assert_true(arena_reserve(&arena, NULL));
    rdrop_layout(&c.buffers, &arena, M, V, D);

    Loss forward = {0}, backward = {0}, defined = by_definition(&c);
    rdrop_forward(&forward, o->X, o->E, o->bias, o->target, smoothing, A, &c.buffers, M, V, D);
    rdrop_backward(&backward, o->dX, o->dE, learn_bias ? o->dbias : NULL, NULL, o->scale, o->X,
                   o->E, o->bias, o->target, smoothing, A, &c.buffers, M, V, D);
    assert_memory_equal(&forward, &backward, sizeof forward);
    assert_int_equal(forward.tokens, M);
    assert_true(fabs(forward.nll - defined.nll) < 1e-9 * fabs(defined.nll));
    assert_true(fabs(forward.objective - defined.objective) < 1e-9 * fabs(defined.objective));
    output_check(layer, loss, &c, o, learn_bias);
    arena_free(&arena);
}

static void test_gradients(void **state)
{
    (void)state;
    check_case("R-Drop", 6, 7, 0, 5, true);
    check_case("R-Drop, smoothing 0.1", 6, 7, 0.1, 1, true);
    check_case("R-Drop, bias not learned", 6, 7, 0.1, 5, false);
    check_case("R-Drop, many rows", MANY_ROWS, 7, 0.1, 5, true);
    check_case("R-Drop, many classes", 6, MANY_CLASSES, 0.1, 5, true);
}

/* Without weight, and with twins that are the same, it is loss.c's: the gradients, too. */
static void test_without_divergence(void **state)
{
    (void)state;
    enum { M = 8, V = 11 };
    for (int same = 0; same < 2; same++) {
        real *X = numbers(M * D), *E = numbers(V * D), *bias = numbers(V);
        int target[M];
        for (int n = 0; n < M; n++) target[n] = n % (M / 2) * 2;
        if (same) memcpy(X + M / 2 * D, X, M / 2 * D * sizeof *X);
        LossBuffers plain;
        RDropBuffers twice;
        Arena arena[2] = {{0}, {0}};
        for (int pass = 0; pass < 2; pass++) {
            loss_layout(&plain, &arena[0], M, V, D, true);
            rdrop_layout(&twice, &arena[1], M, V, D);
            for (int i = 0; i < 2 && pass == 0; i++)
                assert_true(arena_reserve(&arena[i], NULL));
        }
        real *dX[2], *dE[2], *dbias[2];
        for (int i = 0; i < 2; i++) {
            dX[i] = numbers(M * D);
            dE[i] = memset(numbers(V * D), 0, V * D * sizeof(real));
            dbias[i] = memset(numbers(V), 0, V * sizeof(real));
        }
        Loss one = {0}, two = {0};
        loss_backward(&one, dX[0], dE[0], dbias[0], NULL, 0.3, X, E, bias, target, 0.1, &plain,
                      M, V, D);
        rdrop_backward(&two, dX[1], dE[1], dbias[1], NULL, 0.3, X, E, bias, target, 0.1,
                       same ? 7 : 0, &twice, M, V, D);
        assert_true(fabs(one.objective - two.objective) < 1e-12 * one.objective);
        assert_true(fabs(one.nll - two.nll) < 1e-12 * one.nll);
        for (int i = 0; i < M * D; i++) assert_true(fabs(dX[0][i] - dX[1][i]) < 1e-12);
        for (int i = 0; i < V * D; i++) assert_true(fabs(dE[0][i] - dE[1][i]) < 1e-12);
        for (int i = 0; i < V; i++) assert_true(fabs(dbias[0][i] - dbias[1][i]) < 1e-12);
        for (int i = 0; i < 2; i++) arena_free(&arena[i]);
    }
}

int main(void)
{
    gemm_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_gradients, check_teardown),
        cmocka_unit_test_teardown(test_without_divergence, check_teardown),
    };
    return cmocka_run_group_tests_name("gradients/rdrop", tests, NULL, NULL);
}
