/* loss.c -- gradients of label-smoothed cross-entropy, of R-Drop and of distillation, over more
 * rows than a block has and more classes than a chunk has; and their objective by its
 * definition. */
#include "model/loss.h"
#include "tests/fixtures/check.h"

enum { D = 4, MANY_ROWS = LOSS_ROWS + 10, MANY_CLASSES = 260, TAUGHT = 3 };

typedef struct Case {
    int M, V;
    bool r_drop, learn_bias;
    real *X;  // [M,D]
    OutputLayer w;
    int target[MANY_ROWS];
    SoftTarget soft[MANY_ROWS * TAUGHT];
    Objective objective;
    LossBuffers buffers;
    Arena arena;
} Case;

/* A: of R-Drop; negative: cross-entropy alone */
static Case make(int M, int V, double smoothing, double A, bool learn_bias)
{
    return (Case){.M = M,
                  .V = V,
                  .r_drop = A >= 0,
                  .learn_bias = learn_bias,
                  .X = numbers(M * D),
                  .w = {numbers(V * D), numbers(V), V - 1, D, SET},
                  .objective = {.smoothing = smoothing, .r_drop = A, .scale = (real)0.7}};
}

/* The same with a teacher, who may name a token twice. */
static Case taught(Case c)
{
    for (int n = 0; n < c.M * TAUGHT; n++) {
        int i = c.r_drop ? n % (c.M / 2 * TAUGHT) : n;
        c.soft[n] = (SoftTarget){i * i / TAUGHT % (c.V - 1), (real)(i % TAUGHT + 1) / 6};
    }
    c.objective.soft = (SoftTargets){.each = TAUGHT, .weight = 0.6};
    return c;
}

static void layout(Case *c)
{
    loss_layout(&c->buffers, &c->arena, c->M, &c->w, true, c->r_drop);
    c->objective.target = c->target;
    c->objective.soft.at = c->soft;
}

static Loss backward(Case *c, real *dX, real *dE, real *dbias)
{
    Loss sum = {0};
    OutputLayer dw = {dE, dbias, c->w.C, D, SET};
    loss_backward(&sum, dX, &dw, c->X, &c->w, &c->objective, &c->buffers, c->M);
    return sum;
}

static Loss forward(Case *c)
{
    return backward(c, NULL, NULL, NULL);
}

static double loss(void *context)
{
    Case *c = context;
    return (double)c->objective.scale * forward(c).objective;
}

/* ln p [C] (=) of row n. */
static void log_softmax(double *ln_p, const Case *c, int n)
{
    int C = c->w.C;
    double sum = 0;
    for (int k = 0; k < C; k++) {
        ln_p[k] = (double)c->w.bias[k];
        for (int i = 0; i < D; i++)
            ln_p[k] += (double)c->X[n * D + i] * (double)c->w.E[k * D + i];
        sum += exp(ln_p[k]);
    }
    for (int k = 0; k < C; k++) ln_p[k] -= log(sum);
}

/* The probability of class k in the target distribution of row n. */
static double share(const Case *c, int n, int k)
{
    double smoothing = c->objective.smoothing, weight = c->objective.soft.weight;
    double s = (1 - weight) * ((k == c->target[n] ? 1 - smoothing : 0) + smoothing / c->w.C);
    for (int i = n * TAUGHT; weight > 0 && i < (n + 1) * TAUGHT; i++)
        if (c->soft[i].id == k) s += weight * (double)c->soft[i].probability;
    return s;
}

/* Equations 1 to 3 of R-Drop, with label smoothing and teacher in the first; without R-Drop the
 * first alone. */
static Loss by_definition(const Case *c)
{
    Loss sum = {.tokens = c->M};
    for (int n = 0; n < (c->r_drop ? c->M / 2 : c->M); n++) {
        double ln_p[MANY_CLASSES], ln_q[MANY_CLASSES], p_q = 0, q_p = 0;
        int t = c->target[n];
        log_softmax(ln_p, c, n);
        log_softmax(ln_q, c, c->r_drop ? n + c->M / 2 : n);
        for (int k = 0; k < c->w.C; k++) {
            sum.objective -= share(c, n, k) * (ln_p[k] + (c->r_drop ? ln_q[k] : 0));
            p_q += exp(ln_p[k]) * (ln_p[k] - ln_q[k]);
            q_p += exp(ln_q[k]) * (ln_q[k] - ln_p[k]);
        }
        sum.objective += c->objective.r_drop * (p_q + q_p) / 2;
        sum.nll -= ln_p[t] + (c->r_drop ? ln_q[t] : 0);
    }
    return sum;
}

static void check_case(const char *layer, Case c)
{
    int M = c.M, V = c.V;
    for (int n = 0; n < M; n++) {
        int row = c.r_drop ? n % (M / 2) : n;
        c.target[n] = (row * row + row / 5) % (V - 1);
    }
    LAYOUT(&c.arena, layout(&c));
    real *dX = numbers(M * D);
    Added dE = added(V * D), dbias = added(V);
    Loss seen = forward(&c), again = backward(&c, dX, dE.now, c.learn_bias ? dbias.now : NULL);
    assert_memory_equal(&seen, &again, sizeof seen);
    assert_int_equal(seen.tokens, M);
    Loss defined = by_definition(&c);
    assert_true(fabs(seen.nll - defined.nll) < 1e-9 * fabs(defined.nll));
    assert_true(fabs(seen.objective - defined.objective) < 1e-9 * fabs(defined.objective));
    Check check = {.layer = layer, .loss = loss, .context = &c};
    check_tensor(&check, "X", c.X, dX, NULL, M * D);
    check_added(&check, "E", c.w.E, dE, V * D);
    check_untouched(dE.now + (V - 1) * D, dE.before + (V - 1) * D, D);  // <pad>
    if (c.learn_bias) check_added(&check, "bias", c.w.bias, dbias, V);
    else check_untouched(dbias.now, dbias.before, V);
    check_report(&check);
    arena_free(&c.arena);
}

TEST(test_cross_entropy)
{
    check_case("loss", make(MANY_ROWS, 7, 0, -1, true));
    check_case("loss, bias not learned", make(MANY_ROWS, 7, 0, -1, false));
    check_case("loss, smoothing 0.1", make(MANY_ROWS, 7, 0.1, -1, true));
    check_case("loss, many classes", make(5, MANY_CLASSES, 0.1, -1, true));
}

TEST(test_r_drop)
{
    check_case("R-Drop", make(6, 7, 0, 5, true));
    check_case("R-Drop, smoothing 0.1", make(6, 7, 0.1, 1, true));
    check_case("R-Drop, bias not learned", make(6, 7, 0.1, 5, false));
    check_case("R-Drop, many rows", make(MANY_ROWS, 7, 0.1, 5, true));
    check_case("R-Drop, many classes", make(6, MANY_CLASSES, 0.1, 5, true));
}

TEST(test_distillation)
{
    check_case("distillation", taught(make(MANY_ROWS, 7, 0.1, -1, true)));
    check_case("distillation, many classes", taught(make(5, MANY_CLASSES, 0, -1, true)));
    check_case("distillation, R-Drop", taught(make(MANY_ROWS, 7, 0.1, 5, true)));
    check_case("distillation, R-Drop, many classes",
               taught(make(6, MANY_CLASSES, 0.1, 5, true)));
}

/* With A = 0, or if both copies are the same, R-Drop is the cross-entropy, with its
 * gradients. */
TEST(test_without_divergence)
{
    enum { M = 8, V = 11 };
    for (int same = 0; same < 2; same++) {
        Case c[2] = {make(M, V, 0.1, -1, true)};
        for (int n = 0; n < M; n++) c[0].target[n] = n % (M / 2) * 2;
        if (same) memcpy(c[0].X + M / 2 * D, c[0].X, M / 2 * D * sizeof(real));
        c[1] = c[0];
        c[1].r_drop = true, c[1].objective.r_drop = same ? 7 : 0;
        enum { GRADIENTS = M * D + V * D + V };  // dX, dE, dbias
        real *d[2];
        Loss sum[2];
        for (int i = 0; i < 2; i++) {
            LAYOUT(&c[i].arena, layout(&c[i]));
            d[i] = memset(numbers(GRADIENTS), 0, GRADIENTS * sizeof(real));
            sum[i] = backward(&c[i], d[i], d[i] + M * D, d[i] + M * D + V * D);
            arena_free(&c[i].arena);
        }
        assert_true(fabs(sum[0].objective - sum[1].objective) < 1e-12 * sum[0].objective);
        assert_true(fabs(sum[0].nll - sum[1].nll) < 1e-12 * sum[0].nll);
        for (int i = 0; i < GRADIENTS; i++) assert_true(fabs(d[0][i] - d[1][i]) < 1e-12);
    }
}

TEST_MAIN("gradients/loss", NULL, check_teardown)
