/* The words that are chosen, and the three maps against the formulas of projections.h, computed
 * here from the inputs of the layer: a mean query is W_Q x̄ + b of the mean input x̄. */
#include "explain/projections.h"
#include "inference/snapshot.h"
#include "tests/fixtures/params-find.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/small-model.h"
#include "tests/fixtures/test.h"

static Error error;

enum { PIECES = 30, V = PIECES + 3, D = 48, H = 3, DH = D / H, LONGEST = 12, SENTENCES = 40 };
static const int LAYER = 1;

static Transformer model;
static Vocabulary vocabulary;
static Corpus corpus;
static Packed side[SIDES];

/* Pieces w0, w1, … but for id 2, a comma, and id 3, one letter. */
FIXTURE(setup)
{
    static SmallModel small;
    small_model_begin(&small, TOKENIZER_BPE, false);
    for (int i = 0; i < PIECES; i++) {
        char piece[16];
        snprintf(piece, sizeof piece, "w%d", i);
        const char *text = i == 0 ? "\u2581," : i == 1 ? "x" : piece;
        small_model_piece(&small, text, (float)-i, PIECE_NORMAL);
    }
    if (!small_model_vocabulary(&vocabulary, &small, &error)) return -1;
    model = random_model(V, LONGEST, 7);
    corpus = (Corpus){.pairs = SENTENCES, .vocab_size = {V, V}};
    for (int s = 0; s < SIDES; s++) {
        side[s] = random_sentences(SENTENCES, LONGEST, V, 8 + (uint64_t)s);
        corpus.id[s] = (int32_t *)(uintptr_t)side[s].id;
        corpus.start[s] = calloc(SENTENCES + 1, sizeof *corpus.start[s]);
        if (!corpus.start[s]) return -1;
        for (int i = 0; i <= SENTENCES; i++) corpus.start[s][i] = (size_t)side[s].start[i];
    }
    return 0;
}

FIXTURE(teardown)
{
    for (int s = 0; s < SIDES; s++) {
        free_sentences(side[s]);
        free(corpus.start[s]);
    }
    transformer_free(&model);
    vocabulary_free(&vocabulary);
    return 0;
}

/* y [rows] (=) W x + b   W [rows,D] */
static void project(double *y, const char *tensor, const double *x)
{
    char name[128];
    snprintf(name, sizeof name, "model.decoder.layers.%d.encoder_attn.%s.weight", LAYER,
             tensor);
    const Tensor *weight = params_find(&model.params, name);
    snprintf(name, sizeof name, "model.decoder.layers.%d.encoder_attn.%s.bias", LAYER, tensor);
    const real *b = model.block + params_find(&model.params, name)->offset;
    const real *W = model.block + weight->offset;
    for (int r = 0; r < D; r++) {
        y[r] = strcmp(tensor, "out_proj") ? (double)b[r] : 0;
        for (int d = 0; d < D; d++) y[r] += (double)W[r * D + d] * x[d];
    }
}

/* mean [D] (=) the mean input of the steps that produce, or of the source words that are,
 * `id`; *weight (=) the mean attention weight of `id` on `on`. */
static void mean_input(double *mean, CorpusSide s, int id, double *weight, int on)
{
    double count = 0, meetings = 0;
    memset(mean, 0, D * sizeof *mean);
    *weight = 0;
    for (int p = 0; p < SENTENCES; p++) {
        const int *at[SIDES], *start;
        int length[SIDES];
        for (int k = 0; k < SIDES; k++) {
            start = side[k].start + p;
            at[k] = side[k].id + start[0], length[k] = start[1] - start[0];
        }
        Snapshot *snapshot = snapshot_open(&model, at[SOURCE], length[SOURCE], at[TARGET],
                                           length[TARGET], &error);
        assert_non_null(snapshot);
        for (int i = 0; i < length[s]; i++) {
            if (at[s][i] != id) continue;
            HeadVectors v = snapshot_vectors(snapshot, ATTENTION_CROSS, LAYER, 0);
            const real *x = s == SOURCE ? v.Xkv.at : v.Xq.at;
            for (int d = 0; d < D; d++) mean[d] += (double)x[i * D + d];
            count++;
            for (int j = 0; s == TARGET && j < length[SOURCE]; j++) {
                if (at[SOURCE][j] != on) continue;
                for (int h = 0; h < H; h++) {
                    SnapshotRows map = snapshot_map(snapshot, ATTENTION_CROSS, LAYER, h);
                    *weight += (double)map.at[i * map.stride + j] / H;
                }
                meetings++;
            }
        }
        snapshot_close(snapshot);
    }
    for (int d = 0; d < D; d++) mean[d] /= count;
    *weight /= meetings;
}

/* map (=) the softmax of the numbers of each row, or of each column */
static void softmax_of(double map[PROJECTION_WORDS][PROJECTION_WORDS], int n, bool columns)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += exp(columns ? map[j][i] : map[i][j]);
        for (int j = 0; j < n; j++) {
            double *x = columns ? &map[j][i] : &map[i][j];
            *x = exp(*x) / sum;
        }
    }
}

TEST(test_maps_are_the_formulas)
{
    FrequentWords words;
    Projections found;
    static double map[PROJECTION_MAPS][PROJECTION_WORDS][PROJECTION_WORDS];
    projections_words(&words, &corpus, &vocabulary);
    assert_true(projections_find(&found, &words, &model, LAYER, &corpus, &error));
    int n = words.count;
    assert_int_equal(n, PROJECTION_WORDS);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x[D], q[D], k[D], v[D], o[D], unused, product = 0, logit = 0;
            mean_input(x, TARGET, words.id[TARGET][i], &map[1][i][j], words.id[SOURCE][j]);
            project(q, "q_proj", x);
            mean_input(x, SOURCE, words.id[SOURCE][j], &unused, 0);
            project(k, "k_proj", x);
            project(v, "v_proj", x);
            project(o, "out_proj", v);
            for (int d = 0; d < D; d++) product += q[d] * k[d];
            map[0][i][j] = product / sqrt(DH) / H;
            const real *e = model.weights.output.at + words.id[TARGET][i] * D;
            for (int d = 0; d < D; d++) logit += (double)e[d] * o[d];
            map[2][i][j] = logit;
        }
    softmax_of(map[0], n, false);
    softmax_of(map[2], n, true);
    bool never = false;
    for (int m = 0; m < PROJECTION_MAPS; m++)
        for (int k = 0; k < n * n; k++) {
            double expected = map[m][k / n][k % n];
            if (isnan(expected)) assert_true(never = isnan(found.map[m][k]));
            else assert_float_equal(found.map[m][k], expected, 1e-4);
        }
    assert_true(never);
}

TEST(test_loss_is_that_of_the_pairs)
{
    FrequentWords words;
    Projections found;
    Loss loss = {0};
    Activations activations;
    Arena arena = {0};
    projections_words(&words, &corpus, &vocabulary);
    assert_true(projections_find(&found, &words, &model, LAYER, &corpus, &error));
    transformer_layout(&activations, &arena, &model, &side[SOURCE], &side[TARGET], NULL,
                       KEEP_OUTPUT);
    assert_true(arena_reserve(&arena, &error));
    transformer_layout(&activations, &arena, &model, &side[SOURCE], &side[TARGET], NULL,
                       KEEP_OUTPUT);
    transformer_forward(&activations, &model);
    transformer_loss(&loss, &activations, &model, 0);
    arena_free(&arena);
    assert_float_equal(found.loss, loss.nll / (double)loss.tokens, 1e-4);
}

/* Words 5 and 6 translate 7 and 8; the comma and </s> are everywhere. */
TEST(test_words_that_occur_together)
{
    int32_t source[] = {5, 2, 0, 6, 2, 0, 5, 2, 0, 6, 9, 0, 5, 0},
            target[] = {7, 2, 0, 2, 8, 0, 7, 2, 0, 8, 2, 0, 7, 0};
    size_t start[] = {0, 3, 6, 9, 12, 14};
    Corpus small = {
        .pairs = 5, .id = {source, target}, .start = {start, start}, .vocab_size = {V, V}};
    FrequentWords words;
    projections_words(&words, &small, &vocabulary);
    assert_int_equal(words.count, 2);  // nothing is left for word 9
    assert_int_equal(words.id[SOURCE][0], 5);
    assert_int_equal(words.id[TARGET][0], 7);
    assert_int_equal(words.id[SOURCE][1], 6);
    assert_int_equal(words.id[TARGET][1], 8);
}

TEST_MAIN("projections", setup, teardown)
