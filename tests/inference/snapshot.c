/* Attention snapshots: the weights and vectors of every head against their definitions. */
#include "inference/snapshot.h"
#include "tests/fixtures/random-model.h"

enum { V = 40, N = 21, M = 70 };  // M: more than one block of logits

static int source[N], target[M];
static const Variant *variant;
static Transformer model;
static Snapshot *snapshot;
static Error error;

FIXTURE(setup)
{
    Rng rng = rng_stream(81, RNG_TEST, 0);
    for (int i = 0; i < N - 1; i++) source[i] = 1 + (int)rng_below(&rng, V - 2);
    for (int i = 0; i < M - 1; i++) target[i] = 1 + (int)rng_below(&rng, V - 2);
    if (variant->more_source) source[0] = V + 1;  // not in the vocabulary of the target
    model = random_variant(variant, V, M, 82);
    snapshot = snapshot_open(&model, source, N, target, M, &error);
    return snapshot ? 0 : -1;
}

FIXTURE(teardown)
{
    snapshot_close(snapshot);
    snapshot_close(NULL);
    transformer_free(&model);
    return 0;
}

static double dot(const real *a, const real *b, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++) sum += (double)a[k] * (double)b[k];
    return sum;
}

static const real *row(SnapshotRows rows, int i)
{
    assert_in_range(i, 0, rows.rows - 1);
    return rows.at + (size_t)i * (size_t)rows.stride;
}

/* Y [n,dh] is X W_hᵀ + b_h of the head's rows of W [D,D]. */
static void is_projected(SnapshotRows Y, SnapshotRows X, Linear w, int head)
{
    int D = X.columns, dh = Y.columns;
    assert_int_equal(Y.rows, X.rows);
    for (int i = 0; i < Y.rows; i++)
        for (int k = 0; k < dh; k++) {
            int r = head * dh + k;
            double y = dot(row(X, i), w.W.at + (size_t)r * (size_t)D, D) + (double)w.b[r];
            assert_true(fabs(y - (double)row(Y, i)[k]) < 1e-4);
        }
}

/* Queries, keys, values, attention weights and output of a head, computed in double.
 * mean (+=) the head's attention weights. */
static double compare(const real *q, const real *k, int dh)
{
    const ScoreFunction *score = &score_functions[model.config.attention_score];
    return score->product ? dot(q, k, dh) : (double)score->compare(q, k, dh);
}

static void check_head(double *mean, AttentionKind kind, int layer, int head)
{
    static float own[M * M];
    const Weights *weights = &model.weights;
    const AttentionWeights *w = kind == ATTENTION_ENCODER   ? &weights->encoder[layer].self
                                : kind == ATTENTION_DECODER ? &weights->decoder[layer].self
                                                            : &weights->decoder[layer].cross;
    HeadVectors v = snapshot_vectors(snapshot, kind, layer, head);
    SnapshotRows map = snapshot_map(snapshot, kind, layer, head);
    assert_int_equal(v.Q.columns, 16);
    assert_int_equal(map.rows, kind == ATTENTION_ENCODER ? N : M);
    assert_int_equal(map.columns, kind == ATTENTION_DECODER ? M : N);
    snapshot_weights(own, snapshot, kind, layer, head);
    is_projected(v.Q, v.Xq, w->q, head);
    is_projected(v.K, v.Xkv, w->k, head);
    is_projected(v.V, v.Xkv, w->v, head);
    for (int i = 0; i < map.rows; i++) {
        double p[M], sum = 0;
        int seen = kind == ATTENTION_DECODER ? i + 1 : map.columns;
        for (int j = 0; j < seen; j++)
            sum += p[j] = exp(v.scale * compare(row(v.Q, i), row(v.K, j), v.Q.columns));
        for (int j = 0; j < map.columns; j++) {  // 0 for tokens that the decoder has not read
            real weight = map.at[i * map.stride + j];
            assert_true(j < seen ? fabs(p[j] / sum - (double)weight) < 1e-5 : weight == 0);
            assert_true(weight == own[i * map.columns + j]);
            mean[i * map.columns + j] += (double)weight / 3;
        }
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

TEST(heads)
{
    static float mean[M * M];
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++) {
        int layers = snapshot_layers(snapshot, kind);
        assert_int_equal(layers, kind == ATTENTION_ENCODER ? 2 : 3);
        for (int layer = 0; layer < layers; layer++) {
            double expected[M * M] = {0};
            for (int head = 0; head < 3; head++) check_head(expected, kind, layer, head);
            SnapshotRows map = snapshot_map(snapshot, kind, layer, 0);
            snapshot_weights(mean, snapshot, kind, layer, -1);
            for (int i = 0; i < map.rows * map.columns; i++)
                assert_true(fabs(mean[i] - expected[i]) < 1e-6);
        }
    }
}

TEST(embeddings)
{
    int D = model.config.d_model;
    for (int side = 0; side < 2; side++) {
        SnapshotRows X = snapshot_embedded(snapshot, side == 0);
        const real *E =
            side == 0 ? model.weights.source_embedding.at : model.weights.target_embedding.at;
        const real *P =
            side == 0 ? model.weights.source_positions : model.weights.target_positions;
        assert_int_equal(X.rows, side == 0 ? N : M);
        for (int i = 0; i < X.rows; i++) {
            int id = side == 0 ? source[i] : i ? target[i - 1] : V - 1;
            for (int k = 0; k < D; k++) {
                double x = sqrt(D) * (double)E[id * D + k] + (P ? (double)P[i * D + k] : 0);
                assert_true(fabs(x - (double)row(X, i)[k]) < 1e-4);
            }
        }
    }
}

TEST(refusals)
{
    assert_null(snapshot_open(&model, source, N - 1, target, M, &error));
    assert_string_equal(error.text,
                        "source: token 20 of 20 is not </s>, which ends a sentence");
    assert_null(snapshot_open(&model, source, N, target, M + 1, &error));
    assert_string_equal(error.text,
                        "target: a sentence has 71 tokens, but the model takes 1 to 70");
    int unknown[M];
    memcpy(unknown, target, sizeof unknown);
    unknown[0] = V + 1;
    assert_null(snapshot_open(&model, source, N, unknown, M, &error));
    assert_string_equal(error.text, "target: token 1 is 41, but the vocabulary has 0 to 38");
}

/* A sentence has one snapshot for all views that need it, and none if no view does. */
TEST(taken_once)
{
    LazySnapshot lazy = {&model, source, target, N, M, NULL, {NULL}, NULL};
    const Snapshot *first = snapshot_get(&lazy, &error);
    assert_non_null(first);
    for (int view = 0; view < 4; view++) assert_ptr_equal(snapshot_get(&lazy, &error), first);
    assert_ptr_equal(first->model, &model);
    assert_int_equal(first->source.rows, N);
    assert_memory_equal(first->target.id, target, sizeof target);
    snapshot_close(lazy.taken);
    lazy = (LazySnapshot){&model, source, target, N,
                          M + 1,  NULL,   {NULL}, NULL};  // too long for the model
    assert_null(snapshot_get(&lazy, &error));
    assert_null(lazy.taken);
}

VARIANTS_MAIN(setup, teardown)
