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

/* ---- a map in blocks, against the whole map ---- */

enum { D = 32, HEADS = 2 };
static const int ends[] = {0, 90, 91, 250}, key_ends[] = {0, 300, 420, 421};
static const Packed queries = {3, 250, NULL, ends}, keys = {3, 421, NULL, key_ends};

/* What a block size gives: outputs and gradients. */
typedef struct Run {
    real *Y, *dXq, *dXkv, *dW;
} Run;

static Run run(bool cross, bool causal, double rate, Score score, size_t block)
{
    const ModelConfig config = {.d_model = D, .heads = HEADS, .attention_score = score};
    const Dropout dropout = {.attention = rate, .seed = 3, .update = 4};
    real *W = numbers(4 * D * D, 0.3, 5), *b = numbers(4 * D, 1, 6), t[HEADS] = {4, 7};
    real *dW = calloc(4 * D * D + 4 * D, sizeof *dW), *db = dW + 4 * D * D, dt[HEADS] = {0};
    bool learned = score_functions[score].learned;
    AttentionWeights w = {{{.at = W}, b},
                          {{.at = W + D * D}, b + D},
                          {{.at = W + 2 * D * D}, b},
                          {{.at = W + 3 * D * D}, b},
                          learned ? t : NULL};
    AttentionWeights dw = {{{.at = dW}, db},
                           {{.at = dW + D * D}, db + D},
                           {{.at = dW + 2 * D * D}, db},
                           {{.at = dW + 3 * D * D}, db},
                           learned ? dt : NULL};
    int n = queries.rows, m = cross ? keys.rows : n;
    Run r = {numbers(n * D, 1, 7), numbers(n * D, 1, 8), numbers(m * D, 1, 9), dW};
    real *Xq = numbers(n * D, 1, 10), *Xkv = numbers(m * D, 1, 11), *dY = numbers(n * D, 1, 12);
    real *scratch = numbers(2 * (n + m) * D, 1, 13);
    Attention a;
    Arena arena = {0};
    for (int pass = 0; pass < 2; pass++) {
        attention_layout(&a, &arena, &config, &queries, cross ? &keys : NULL, causal, &dropout,
                         true, block);
        if (pass == 0) assert_true(arena_reserve(&arena, NULL));
    }
    attention_forward(r.Y, &a, Xq, Xkv, &w, &dropout, 3);
    attention_backward(SET, r.dXq, SET, r.dXkv, &dw, scratch, dY, &a, &w);
    arena_free(&arena);
    free(W), free(b), free(Xq), free(Xkv), free(dY), free(scratch);
    return r;
}

static void assert_near(const real *a, const real *b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs((double)b[i]));
    for (int i = 0; i < count; i++)
        if (!(fabs((double)(a[i] - b[i])) <= 2e-6 * largest))
            fail_msg("[%d] is %g, should be %g", i, (double)a[i], (double)b[i]);
}

static void check_blocks(bool cross, bool causal, double rate, Score score, size_t block)
{
    Run whole = run(cross, causal, rate, score, SIZE_MAX);
    Run parts = run(cross, causal, rate, score, block),
        again = run(cross, causal, rate, score, block);
    int n = queries.rows * D, m = cross ? keys.rows * D : n;
    assert_near(parts.Y, whole.Y, n);
    assert_near(parts.dXq, whole.dXq, n);
    assert_near(parts.dXkv, whole.dXkv, m);
    assert_near(parts.dW, whole.dW, 4 * D * D + 4 * D);
    assert_memory_equal(parts.dW, again.dW, (4 * D * D + 4 * D) * sizeof(real));
    Run all[] = {whole, parts, again};
    for (int i = 0; i < 3; i++)
        free(all[i].Y), free(all[i].dXq), free(all[i].dXkv), free(all[i].dW);
}

/* Causal maps with dropout have another mask in blocks: they leave out what no query sees. */
TEST(test_blocks)
{
    for (int score = 0; score_names[score]; score++)
        for (int i = 0; i < 2; i++) {
            size_t block = i ? 1 : 5000;
            check_blocks(false, false, 0.2, (Score)score, block);
            check_blocks(false, true, 0, (Score)score, block);
            check_blocks(true, false, 0.2, (Score)score, block);
        }
}

KINDS_MAIN("attention", NULL, NULL)
