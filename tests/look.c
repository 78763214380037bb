/* Maps of attention: rows sum to 1, nothing looks ahead, and the summaries are what they say. */
#include "tests/test.h"

#include <math.h>

#include "inference/look.h"
#include "tests/random-model.h"

enum { V = 40, N = 21, M = 70 };  // M: more than one block of logits

static int source[N], target[M];
static const Variant *variant;

static Transformer setup(void)
{
    Rng rng = rng_stream(81, RNG_TEST, 0);
    for (int i = 0; i < N - 1; i++) source[i] = 1 + (int)rng_below(&rng, V - 2);
    for (int i = 0; i < M - 1; i++) target[i] = 1 + (int)rng_below(&rng, V - 2);
    if (variant->more_source) source[0] = V + 1;  // which the target's vocabulary has not
    return random_variant(variant, V, M, 82);
}

static void maps(void **state)
{
    (void)state;
    Error error;
    Transformer model = setup();
    Look *look = look_open(&model, source, N, target, M, &error);
    assert_non_null(look);
    assert_int_equal(look_heads(look), 3);
    assert_int_equal(look_layers(look, LOOK_ENCODER), 2);
    assert_int_equal(look_layers(look, LOOK_DECODER), 3);
    assert_int_equal(look_layers(look, LOOK_CROSS), 3);
    static float head[M * M], mean[M * M];
    for (int kind = LOOK_ENCODER; kind <= LOOK_CROSS; kind++)
        for (int layer = 0; layer < look_layers(look, kind); layer++) {
            double sum_of_heads[M * M] = {0};
            int rows = kind == LOOK_ENCODER ? N : M, columns = kind == LOOK_DECODER ? M : N;
            for (int h = 0; h < 3; h++) {
                AttentionMap map = look_map(look, kind, layer, h);
                assert_int_equal(map.rows, rows);
                assert_int_equal(map.columns, columns);
                look_head(head, look, kind, layer, h);
                for (int i = 0; i < rows; i++) {
                    double sum = 0;
                    for (int j = 0; j < columns; j++) {
                        real p = map.at[i * map.width + j];
                        assert_true(p >= 0 && p == head[i * columns + j]);
                        if (kind == LOOK_DECODER && j > i) assert_true(p == 0);
                        sum += p;
                        sum_of_heads[i * columns + j] += p;
                    }
                    assert_true(fabs(sum - 1) < 1e-5);
                }
            }
            look_mean(mean, look, kind, layer);
            for (int i = 0; i < rows * columns; i++)
                assert_true(fabs(mean[i] - sum_of_heads[i] / 3) < 1e-6);
        }
    look_close(look);
    transformer_free(&model);
}

static double dot(const real *a, const real *b, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++) sum += (double)a[k] * (double)b[k];
    return sum;
}

static const real *row(LookRows rows, int i)
{
    assert_in_range(i, 0, rows.rows - 1);
    return rows.at + (size_t)i * (size_t)rows.stride;
}

/* Y [n,dh] is X W_hᵀ + b_h of the head's rows of W [D,D]. */
static void is_projected(LookRows Y, LookRows X, Linear w, int head)
{
    int D = X.columns, dh = Y.columns;
    assert_int_equal(Y.rows, X.rows);
    for (int i = 0; i < Y.rows; i++)
        for (int k = 0; k < dh; k++) {
            int r = head * dh + k;
            double y = dot(row(X, i), w.W + (size_t)r * (size_t)D, D) + (double)w.b[r];
            assert_true(fabs(y - (double)row(Y, i)[k]) < 1e-4);
        }
}

/* From what a layer read to its queries, keys and values, its map, and what a head read by it: in
 * double, by the definition. */
static void one_head_again(const Transformer *model, const Look *look, LookKind kind, int layer,
                           int head)
{
    const AttentionWeights *w = kind == LOOK_ENCODER   ? &model->weights.encoder[layer].self
                                : kind == LOOK_DECODER ? &model->weights.decoder[layer].self
                                                       : &model->weights.decoder[layer].cross;
    LookVectors v = look_vectors(look, kind, layer, head);
    AttentionMap map = look_map(look, kind, layer, head);
    assert_int_equal(v.Q.columns, 16);
    is_projected(v.Q, v.Xq, w->q, head);
    is_projected(v.K, v.Xkv, w->k, head);
    is_projected(v.V, v.Xkv, w->v, head);
    for (int i = 0; i < map.rows; i++) {
        double p[M], sum = 0;
        int seen = kind == LOOK_DECODER ? i + 1 : map.columns;
        for (int j = 0; j < seen; j++)
            sum += p[j] = exp(v.scale * dot(row(v.Q, i), row(v.K, j), v.Q.columns));
        for (int j = 0; j < seen; j++)
            assert_true(fabs(p[j] / sum - (double)map.at[i * map.width + j]) < 1e-5);
        for (int k = 0; k < v.O.columns; k++) {
            double o = 0, largest = 0;
            for (int j = 0; j < seen; j++) {
                double value = (double)row(v.V, j)[k];
                o += p[j] / sum * value;
                largest = fmax(largest, fabs(value));
            }
            assert_true(fabs(o - (double)row(v.O, i)[k]) < 1e-5 * (1 + 2 * largest));
        }
    }
}

static void vectors(void **state)
{
    (void)state;
    Error error;
    Transformer model = setup();
    Look *look = look_open(&model, source, N, target, M, &error);
    assert_non_null(look);
    for (int kind = LOOK_ENCODER; kind <= LOOK_CROSS; kind++)
        for (int layer = 0; layer < look_layers(look, kind); layer++)
            for (int head = 0; head < look_heads(look); head++)
                one_head_again(&model, look, kind, layer, head);
    int D = model.config.d_model;
    for (int side = 0; side < 2; side++) {
        LookRows X = look_embedded(look, side == 0);
        const real *E =
            side == 0 ? model.weights.source_embedding : model.weights.target_embedding;
        const real *P = side == 0 ? model.source_positions : model.target_positions;
        assert_int_equal(X.rows, side == 0 ? N : M);
        for (int i = 0; i < X.rows; i++) {
            int id = side == 0 ? source[i] : i ? target[i - 1] : V - 1;
            for (int k = 0; k < D; k++) {
                double x = sqrt(D) * (double)E[id * D + k] + (P ? (double)P[i * D + k] : 0);
                assert_true(fabs(x - (double)row(X, i)[k]) < 1e-4);
            }
        }
    }
    look_close(look);
    transformer_free(&model);
}

static void refusals(void **state)
{
    (void)state;
    Error error;
    Transformer model = setup();
    assert_null(look_open(&model, source, N - 1, target, M, &error));
    assert_string_equal(error.text,
                        "source: token 20 of 20 is not </s>, which ends a sentence");
    assert_null(look_open(&model, source, N, target, M + 1, &error));
    assert_string_equal(error.text,
                        "target: a sentence of 71 tokens, where the model takes 1 to 70");
    target[0] = V + 1;
    assert_null(look_open(&model, source, N, target, M, &error));
    assert_string_equal(error.text, "target: token 1 is 41, where the vocabulary has 0 to 38");
    look_close(NULL);
    transformer_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps), cmocka_unit_test(vectors),
                                       cmocka_unit_test(refusals)};
    int failed = 0;
    for (int i = 0; i < VARIANTS; i++) {
        variant = &variants[i];
        failed += cmocka_run_group_tests_name(variant->name, tests, NULL, NULL);
    }
    return failed;
}
