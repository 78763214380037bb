/* scorefunction.c -- the score functions alone, without a network: their values, their gradients,
 * and vectors of zeros. */
#include "model/scorefunction.h"
#include "tests/fixtures/check.h"

enum { N = 3, M = 4, DH = 5, STRIDE = 7 };

typedef struct Case {
    const ScoreFunction *score;
    Rows S, Q, K;
    real scale;
    const real *R;  // [N,STRIDE]
} Case;

static double loss(void *context)
{
    Case *c = context;
    double sum = 0;
    scores_forward(c->S, c->score, c->Q, c->K, c->scale, N, M, DH);
    for (int i = 0; i < N; i++) sum += inner(c->S.at + i * STRIDE, c->R + i * STRIDE, M);
    return sum;
}

/* The scores as their papers define them. */
static double defined(Score score, const real *q, const real *k, double t)
{
    double dot = 0, qq = 1e-5, kk = 1e-5, distance = 0;
    for (int d = 0; d < DH; d++) {
        dot += q[d] * k[d], qq += q[d] * q[d], kk += k[d] * k[d];
        distance += fabs(q[d] - k[d]);
    }
    switch (score) {
    case SCORE_SCALED_DOT: return dot / sqrt(DH);
    case SCORE_DOT: return dot;
    case SCORE_DOT_OVER_D: return dot / DH;
    case SCORE_COSINE: return t * dot / sqrt(qq) / sqrt(kk);
    case SCORE_LAPLACE: return -distance;
    }
    return NAN;
}

/* A row of each is zero if `zero`. */
static Case make(Score name, bool zero)
{
    const ScoreFunction *score = &score_functions[name];
    Case c = {score,
              {numbers(N * STRIDE), STRIDE},
              {numbers(N * STRIDE), STRIDE},
              {numbers(M * STRIDE), STRIDE},
              score_scale(score, DH),
              numbers(N * STRIDE)};
    if (zero) memset(c.Q.at, 0, DH * sizeof(real)), memset(c.K.at, 0, DH * sizeof(real));
    return c;
}

static void check_gradients(Score name, bool zero)
{
    Case c = make(name, zero);
    Added dQ = added(N * STRIDE), dK = added(M * STRIDE), dscale = added(1);
    bool learned = c.score->learned;
    scores_backward(SET, (Rows){dQ.now, STRIDE}, (Rows){dK.now, STRIDE},
                    learned ? dscale.now : NULL, (Rows){(real *)(uintptr_t)c.R, STRIDE},
                    c.score, c.Q, c.K, c.scale, N, M, DH);
    Check check = {.layer = score_names[name], .loss = loss, .context = &c};
    for (int i = 0; i < N; i++)
        check_tensor(&check, "Q", c.Q.at + i * STRIDE, dQ.now + i * STRIDE, NULL, DH);
    for (int j = 0; j < M; j++)
        check_tensor(&check, "K", c.K.at + j * STRIDE, dK.now + j * STRIDE, NULL, DH);
    for (int i = 0; i < N; i++)
        check_untouched(dQ.now + i * STRIDE + DH, dQ.before + i * STRIDE + DH, STRIDE - DH);
    if (learned) check_added(&check, "scale", &c.scale, dscale, 1);
    else check_untouched(dscale.now, dscale.before, 1);
    check_report(&check);
}

TEST(test_gradients)
{
    for (int name = 0; score_names[name]; name++)
        for (int zero = 0; zero < 2; zero++) {
            check_gradients((Score)name, zero);
            check_teardown(state);
        }
}

TEST(test_values)
{
    for (int name = 0; name <= SCORE_LAPLACE; name++)
        for (int zero = 0; zero < 2; zero++) {
            Case c = make((Score)name, zero);
            loss(&c);
            for (int i = 0; i < N * M; i++) {
                double is = c.S.at[i / M * STRIDE + i % M];
                double should = defined((Score)name, c.Q.at + i / M * STRIDE,
                                        c.K.at + i % M * STRIDE, c.scale);
                assert_true(fabs(is - should) < 1e-12);
                assert_true(zero || should != 0);
            }
        }
}

/* A query and a key of zeros: the cosine is 0, and its gradients are numbers. */
TEST(test_zero_vectors)
{
    real zero[DH] = {0}, x[DH] = {1, 2, 3, 4, 5}, dq[DH] = {0}, dk[DH] = {0};
    const ScoreFunction *cosine = &score_functions[SCORE_COSINE];
    assert_true(cosine->compare(zero, x, DH) == 0 && cosine->compare(zero, zero, DH) == 0);
    cosine->compare_backward(dq, dk, 1, zero, zero, DH);
    for (int d = 0; d < DH; d++) assert_true(dq[d] == 0 && dk[d] == 0);
    cosine->compare_backward(dq, dk, 1, zero, x, DH);
    double length = 0;
    for (int d = 0; d < DH; d++) length += dq[d] * dq[d];
    assert_true(fabs(sqrt(length) * sqrt(1e-5) - 1) < 1e-6);
}

TEST_MAIN("gradients/scorefunction", NULL, check_teardown)
