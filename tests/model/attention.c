/* attention.c -- the attention weights of one head against their definition in double, and
 * scores so large that e^z overflows. */
#include "model/attention.h"
#include "base/rng.h"
#include "tests/fixtures/kinds.h"
#include "tests/fixtures/test.h"

enum { STRIDE = 50 };

static real *numbers(int count, double deviation, uint64_t index)
{
    real *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    Rng rng = rng_stream(1, RNG_TEST, index);
    for (int i = 0; i < count; i++) x[i] = (real)(deviation * rng_normal(&rng));
    return x;
}

static void check_case(int n, int m, int dh, bool causal, double deviation, double limit)
{
    int width = head_width(m);
    real *Q = numbers(n * STRIDE, deviation, 1), *K = numbers(m * STRIDE, deviation, 2);
    real *P = numbers(n * width, 1, 3), *Kt = numbers(dh * width, 1, 4);
    const AttentionHead head = {.n = n,
                                .m = m,
                                .dh = dh,
                                .causal = causal,
                                .scale = 1 / (real)sqrt(dh),
                                .x = {.Q = {Q, STRIDE}, .K = {K, STRIDE}},
                                .P = P,
                                .Kt = {Kt, width}};
    head_scores(&head);
    head_softmax(&head);
    for (int i = 0; i < n; i++) {
        int seen = causal ? i + 1 : m;
        double z[256], largest = -INFINITY, sum = 0;
        for (int j = 0; j < seen; j++) {
            z[j] = 0;
            for (int k = 0; k < dh; k++)
                z[j] += (double)Q[i * STRIDE + k] * (double)K[j * STRIDE + k] / sqrt(dh);
            largest = fmax(largest, z[j]);
        }
        for (int j = 0; j < seen; j++) sum += exp(z[j] - largest);
        for (int j = 0; j < width; j++) {
            double expected = j < seen ? exp(z[j] - largest) / sum : 0;
            if (!(fabs((double)P[i * width + j] - expected) <= (j < seen ? limit : 0)))
                fail_msg("%d queries, %d keys, dh %d: P[%d,%d] is %g, should be %g", n, m, dh,
                         i, j, (double)P[i * width + j], expected);
        }
    }
    free(Q), free(K), free(P), free(Kt);
}

TEST(test_sizes)
{
    const int sizes[] = {1, 2, 7, 15, 16, 17, 33, 48, 100}, heads[] = {1, 3, 16, 32, 50};
    for (int a = 0; a < 9; a++)
        for (int b = 0; b < 5; b++) {
            for (int c = 0; c < 9; c++)
                check_case(sizes[a], sizes[c], heads[b], false, 1, 1e-6);
            check_case(sizes[a], sizes[a], heads[b], true, 1, 1e-6);
        }
}

/* Scores of ten thousand: the softmax subtracts the largest. */
TEST(test_extreme_scores)
{
    for (int causal = 0; causal < 2; causal++) check_case(20, 20, 16, causal, 100, 5e-3);
}

KINDS_MAIN("attention", NULL, NULL)
