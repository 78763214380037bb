/* Interventions: the map and the output of a changed head against their definitions. */
#include "inference/intervention.h"

#include "inference/snapshot.h"
#include "model/quantised.h"
#include "tests/fixtures/random-model.h"

enum { V = 40, N = 9, M = 12, LONGEST = 12, D = 48, HEADS = 3, DH = 16 };

static int source[N], target[M];
static const Variant *variant;
static Transformer model;
static Error error;

FIXTURE(setup)
{
    Rng rng = rng_stream(81, RNG_TEST, 0);
    for (int i = 0; i < N - 1; i++) source[i] = 1 + (int)rng_below(&rng, V - 2);
    for (int i = 0; i < M - 1; i++) target[i] = 1 + (int)rng_below(&rng, V - 2);
    model = random_variant(variant, V, LONGEST, 82);
    return 0;
}

FIXTURE(teardown)
{
    transformer_free(&model);
    return 0;
}

/* Applies one intervention: of a head if the text begins with a kind of attention. */
static bool change(Transformer *to, const char *text)
{
    Intervention i = {0};
    bool head = strstr(text, "coder.") || strstr(text, "cross.");
    bool good = strings_add(head ? &i.ablate : &i.intervene, text, &error) &&
                intervention_parse(&i, &error) && intervention_apply(&i, to, &error);
    strings_free(&i.ablate);
    strings_free(&i.intervene);
    return good;
}

static Transformer changed(const char *text)
{
    Transformer other = random_variant(variant, V, LONGEST, 82);
    assert_true(change(&other, text));
    return other;
}

static Snapshot *snap(const Transformer *of)
{
    Snapshot *snapshot = snapshot_open(of, source, N, target, M, &error);
    assert_non_null(snapshot);
    return snapshot;
}

static AttentionWeights *attention_of(Transformer *of, int kind, int layer)
{
    Weights *w = &of->weights;
    return kind == ATTENTION_ENCODER   ? &w->encoder[layer].self
           : kind == ATTENTION_DECODER ? &w->decoder[layer].self
                                       : &w->decoder[layer].cross;
}

static const char *const names[] = {"encoder", "decoder", "cross"};

/* A head whose values are 0 puts out 0, so W_O has nothing of it to add: the same bits. */
TEST(a_head_that_is_off_adds_nothing)
{
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++) {
        char text[40];
        snprintf(text, sizeof text, "%s.2.3=zero", names[kind]);
        Transformer off = changed(text);
        Transformer silent = random_variant(variant, V, LONGEST, 82);
        Linear *v = &attention_of(&silent, kind, 1)->v;
        for (int r = 2 * DH; r < 3 * DH; r++) {
            v->b[r] = 0;
            for (int c = 0; c < D; c++) v->W.at[r * D + c] = 0;
        }
        Snapshot *a = snap(&off), *b = snap(&silent), *before = snap(&model);
        int differ = 0;
        for (int i = 0; i < M * D; i++) {
            assert_true(a->activations.output[i] == b->activations.output[i]);
            differ += a->activations.output[i] != before->activations.output[i];
        }
        assert_true(differ > M * D / 2);
        SnapshotRows p = snapshot_map(a, (AttentionKind)kind, 1, 2);
        SnapshotRows q = snapshot_map(before, (AttentionKind)kind, 1, 2);
        assert_memory_equal(p.at, q.at, (size_t)(p.rows * p.stride) * sizeof *p.at);
        snapshot_close(a), snapshot_close(b), snapshot_close(before);
        transformer_free(&off), transformer_free(&silent);
    }
}

/* All weights of a row are 1/n, and the output is the mean of the values. */
static void is_uniform(const Snapshot *snapshot, int kind, int layer, int head)
{
    SnapshotRows p = snapshot_map(snapshot, (AttentionKind)kind, layer, head);
    HeadVectors v = snapshot_vectors(snapshot, (AttentionKind)kind, layer, head);
    for (int i = 0; i < p.rows; i++) {
        int seen = kind == ATTENTION_DECODER ? i + 1 : p.columns;
        for (int j = 0; j < seen; j++)
            assert_true(fabs((double)p.at[i * p.stride + j] - 1.0 / seen) < 1e-6);
        for (int k = 0; k < DH; k++) {
            double mean = 0;
            for (int j = 0; j < seen; j++) mean += (double)v.V.at[j * v.V.stride + k] / seen;
            assert_true(fabs(mean - (double)v.O.at[i * v.O.stride + k]) < 1e-4);
        }
    }
}

TEST(a_uniform_head_takes_the_mean_of_the_values)
{
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_CROSS; kind++)
        for (int int8 = 0; int8 < 2; int8++) {
            char text[40];
            snprintf(text, sizeof text, "%s.1.2=uniform", names[kind]);
            Transformer flat = changed(text);
            assert_true(transformer_prepare(&flat, int8, &error));
            Snapshot *a = snap(&flat), *before = snap(&model);
            is_uniform(a, kind, 0, 1);
            SnapshotRows p = snapshot_map(a, (AttentionKind)kind, 0, 0);
            SnapshotRows q = snapshot_map(before, (AttentionKind)kind, 0, 0);
            for (int i = 0; i < p.rows * p.stride && !int8; i++)  // the head beside it
                assert_true(fabs((double)p.at[i] - (double)q.at[i]) < 1e-4);
            snapshot_close(a), snapshot_close(before);
            transformer_free(&flat);
        }
}

TEST(a_star_is_every_head_of_the_layer)
{
    Transformer flat = changed("cross.3.*=uniform");
    Snapshot *a = snap(&flat);
    for (int head = 0; head < HEADS; head++) is_uniform(a, ATTENTION_CROSS, 2, head);
    snapshot_close(a);
    transformer_free(&flat);
    Transformer off = changed("cross.3.*=zero");
    for (int i = 0; i < D * D; i++)
        assert_true(attention_of(&off, ATTENTION_CROSS, 2)->out.W.at[i] == 0);
    transformer_free(&off);
}

/* In the first layer the inputs are as before, so its map is softmax_rows(X · Q Kᵀ), or of X times
 * the comparison. */
TEST(scale_replaces_the_factor_of_the_scores)
{
    const ScoreFunction *score = &score_functions[variant->score];
    if (variant->score == SCORE_LAPLACE) {
        Transformer other = random_variant(variant, V, LONGEST, 82);
        assert_false(change(&other, "scale=-0.03"));
        assert_string_equal(error.text, "`intervene` scale=X is for scores that have a scale, "
                                        "and this model's score is -‖q-k‖₁");
        transformer_free(&other);
        return;
    }
    Transformer scaled = changed("scale=-0.03");
    Snapshot *a = snap(&scaled), *before = snap(&model);
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_DECODER; kind++)
        for (int head = 0; head < HEADS; head++) {
            SnapshotRows p = snapshot_map(a, (AttentionKind)kind, 0, head);
            HeadVectors v = snapshot_vectors(before, (AttentionKind)kind, 0, head);
            for (int i = 0; i < p.rows; i++) {
                double e[LONGEST], sum = 0;
                int seen = kind == ATTENTION_DECODER ? i + 1 : p.columns;
                for (int j = 0; j < seen; j++) {
                    double s = (double)score->compare(v.Q.at + i * v.Q.stride,
                                                      v.K.at + j * v.K.stride, DH);
                    sum += e[j] = exp(-0.03 * s);
                }
                for (int j = 0; j < seen; j++)
                    assert_true(fabs(e[j] / sum - (double)p.at[i * p.stride + j]) < 1e-5);
            }
        }
    snapshot_close(a), snapshot_close(before);
    transformer_free(&scaled);
}

TEST(queries_become_keys)
{
    Transformer same = changed("wq=wk");
    Snapshot *a = snap(&same);
    for (int kind = ATTENTION_ENCODER; kind <= ATTENTION_DECODER; kind++)
        for (int head = 0; head < HEADS; head++) {
            HeadVectors v = snapshot_vectors(a, (AttentionKind)kind, 1, head);
            for (int i = 0; i < v.Q.rows; i++)
                for (int k = 0; k < DH; k++)
                    assert_true(fabs((double)v.Q.at[i * v.Q.stride + k] -
                                     (double)v.K.at[i * v.K.stride + k]) < 1e-5);
        }
    AttentionWeights *w = attention_of(&same, ATTENTION_CROSS, 1);
    assert_memory_equal(w->q.W.at, w->k.W.at, D * D * sizeof(real));
    assert_memory_equal(w->q.b, w->k.b, D * sizeof(real));
    snapshot_close(a);
    transformer_free(&same);
}

/* Without positions, the order of the source does not matter to the decoder. */
TEST(positions_are_not_added)
{
    Transformer without = changed("positions=0");
    Snapshot *a = snap(&without);
    for (int side = 0; side < 2; side++) {
        SnapshotRows X = snapshot_embedded(a, side == 0);
        const real *E =
            side ? model.weights.target_embedding.at : model.weights.source_embedding.at;
        for (int i = 0; i < X.rows; i++) {
            int id = !side ? source[i] : i ? target[i - 1] : V - 1;
            for (int k = 0; k < D; k++)
                assert_true(fabs((double)X.at[i * X.stride + k] -
                                 sqrt(D) * (double)E[id * D + k]) < 1e-4);
        }
    }
    int first = source[0];
    source[0] = source[4], source[4] = first;
    Snapshot *b = snap(&without);
    for (int i = 0; i < M * D; i++)
        assert_true(fabs((double)a->activations.output[i] - (double)b->activations.output[i]) <
                    1e-3);
    source[4] = source[0], source[0] = first;
    snapshot_close(a), snapshot_close(b);
    transformer_free(&without);
}

/* The order of the command line does not matter. */
TEST(several_are_made_in_one_order)
{
    Intervention i = {0};
    if (variant->score == SCORE_LAPLACE) return;
    assert_true(strings_add(&i.intervene, "scale=0.5", &error));
    assert_true(strings_add(&i.intervene, "wq=wk", &error));
    assert_true(strings_add(&i.ablate, "encoder.1.1=uniform", &error));
    Transformer both = random_variant(variant, V, LONGEST, 82);
    assert_true(intervention_parse(&i, &error) && i.any &&
                intervention_apply(&i, &both, &error));
    AttentionWeights *w = attention_of(&both, ATTENTION_ENCODER, 0);
    AttentionWeights *was = attention_of(&model, ATTENTION_ENCODER, 0);
    real factor = w->scale ? 1 : (real)(0.5 / (double)attention_scale(&both.config, w, 0));
    for (int k = 0; k < D * D; k++) {
        assert_true(w->q.W.at[k] == was->k.W.at[k] * factor);
        assert_true(w->k.W.at[k] == (k < DH * D ? 0 : was->k.W.at[k]));
    }
    strings_free(&i.ablate);
    strings_free(&i.intervene);
    transformer_free(&both);
}

TEST(refusals)
{
    const char *const wrong[][2] = {
        {"cross.4.1=zero",
         "`ablate` cross.4.1=zero: the model has 3 decoder layers of 3 heads: "
         "cross.1.1 to cross.3.3"},
        {"encoder.3.1=zero", "`ablate` encoder.3.1=zero: the model has 2 encoder layers of 3 "
                             "heads: encoder.1.1 to encoder.2.3"},
        {"decoder.1.4=uniform",
         "`ablate` decoder.1.4=uniform: the model has 3 decoder layers of "
         "3 heads: decoder.1.1 to decoder.3.3"}};
    const char *const not_read[] = {"cross.0.1=zero",      "cross.1.0=zero",  "cross.1.1=half",
                                    "cross.1.1=zeros",     "cross.1.1",       "cross.1=zero",
                                    "cross.1.1=zero.2",    "cross.-1.1=zero", "cross.1.**=zero",
                                    "mid-encoder.1.1=zero"};
    const char *const not_known[] = {"",          "scale=",      "scale=x", "scale=1001",
                                     "scale=nan", "positions=1", "wk=wq",   "scale=1 "};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_false(change(&model, wrong[k][0]));
        assert_string_equal(error.text, wrong[k][1]);
    }
    for (size_t k = 0; k < sizeof not_read / sizeof *not_read; k++) {
        assert_false(change(&model, not_read[k]));
        assert_non_null(strstr(error.text, "takes KIND.LAYER.HEAD=zero or =uniform"));
    }
    for (size_t k = 0; k < sizeof not_known / sizeof *not_known; k++) {
        assert_false(change(&model, not_known[k]));
        assert_non_null(strstr(error.text, "`intervene` takes positions=0, wq=wk or scale=X"));
    }
    assert_true(transformer_prepare(&model, true, &error));
    assert_false(change(&model, "cross.1.1=zero"));
    assert_non_null(strstr(error.text, "need float weights"));
}

/* Shared or missing projections are copies in memory: values and queries stay as they were. */
TEST(shared_projections)
{
    for (int sharing = PROJECTIONS_SEPARATE; sharing <= PROJECTIONS_NONE; sharing++) {
        const ModelConfig config = {NETWORK(V, D, HEADS, 40, 1, 1, LONGEST),
                                    .projections = sharing};
        Transformer shared;
        static real q[D * D], k[D * D], v[D * D];
        assert_true(transformer_create(&shared, &config, &error));
        params_initialise(&shared.params, shared.block, 6);
        AttentionWeights *w = attention_of(&shared, ATTENTION_DECODER, 0);
        memcpy(q, w->q.W.at, sizeof q);
        memcpy(k, w->k.W.at, sizeof k);
        memcpy(v, w->v.W.at, sizeof v);
        assert_true(change(&shared, "decoder.1.2=uniform"));
        assert_memory_equal(w->q.W.at, q, sizeof q);
        assert_memory_equal(w->v.W.at, v, sizeof v);
        for (int at = 0; at < D * D; at++)
            assert_true(w->k.W.at[at] == (at / D / DH == 1 ? 0 : k[at]));
        Snapshot *a = snap(&shared);
        is_uniform(a, ATTENTION_DECODER, 0, 1);
        snapshot_close(a);
        transformer_free(&shared);
    }
}

VARIANTS_MAIN(setup, teardown)
