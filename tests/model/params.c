/* params.c -- the table of parameters: names, order, places in memory, initial values. */
#include "model/params.h"
#include "base/block.h"
#include "tests/fixtures/params-find.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/variants.h"

static const ModelConfig small = {NETWORK(37, 16, 4, 32, 2, 3, 8), .output_bias = true};
static const ModelConfig wide = {NETWORK(1001, 128, 4, 512, 1, 1, 8), .output_bias = true};
static const ModelConfig odd = {NETWORK(5, 3, 1, 7, 1, 1, 2)};
/* The base model of Vaswani et al. 2017, and its parameters as model/README.md counts them. */
static const ModelConfig base = {NETWORK(37000, 512, 8, 2048, 6, 6, 8)};
enum { BASE_COUNT = 63082496 };

static Params table(const ModelConfig *config)
{
    Params params;
    Error error;
    if (!params_table(&params, config, &error)) fail_msg("%s", error.text);
    return params;
}

static bool touches_last(const char *name)
{
    return strstr(name, ".k_proj.") || strstr(name, ".v_proj.");
}

/* Tensors lie in order without overlap, begin at cache lines, and Q, K, V touch. */
static void check_places(const ModelConfig *config)
{
    Params params = table(config);
    size_t end = 0;
    for (int t = 0; t < params.count; t++) {
        const Tensor *tensor = &params.tensor[t];
        size_t count =
            (size_t)tensor->shape[0] * (tensor->dimensions == 2 ? (size_t)tensor->shape[1] : 1);
        assert_int_equal(tensor->count, count);
        if (touches_last(tensor->name)) assert_int_equal(tensor->offset, end);
        else assert_int_equal(tensor->offset % 16, 0);
        assert_true(tensor->offset >= end && tensor->offset < end + 16);
        end = tensor->offset + tensor->count;
    }
    assert_true(params.size >= end && params.size < end + 16);
    params_free(&params);
}

TEST(test_places)
{
    check_places(&small);
    check_places(&wide);
    for (int i = 0; i < VARIANTS; i++) {
        ModelConfig config = variant_config(odd, &variants[i]);
        check_places(&config);
    }
}

static Weights w;

/* A tensor, where Weights points to it, and its rows. */
typedef struct Place {
    const char *name;
    real *const *at;
    int rows;
} Place;

/* A Weights over a block points where the table says. */
static void check_bound(const ModelConfig *config, const Place *place, int count)
{
    Params params = table(config);
    real *block = block_zeros(params.size * sizeof(real), NULL);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < params.size; i++) assert_true(block[i] == 0);
    params_bind(&w, block, config);
    for (int i = 0; i < count; i++) {
        const Tensor *tensor = params_find(&params, place[i].name);
        if (!tensor) fail_msg("no tensor %s", place[i].name);
        assert_ptr_equal(block + tensor->offset, *place[i].at);
        assert_int_equal(tensor->shape[0], place[i].rows);
    }
    free(block);
    params_free(&params);
}

TEST(test_bind)
{
    static const Place some[] = {
        {"model.shared.weight", &w.source_embedding.at, 37},
        {"model.shared.weight", &w.target_embedding.at, 37},
        {"model.shared.weight", &w.output.at, 37},
        {"final_logits_bias", &w.logits_bias, 1},
        {"model.encoder.layers.1.self_attn.k_proj.weight", &w.encoder[1].self.k.W.at, 16},
        {"model.encoder.layers.1.fc2.bias", &w.encoder[1].ffn.fc2.b, 16},
        {"model.decoder.layers.0.self_attn.out_proj.weight", &w.decoder[0].self.out.W.at, 16},
        {"model.decoder.layers.2.encoder_attn.v_proj.bias", &w.decoder[2].cross.v.b, 16},
        {"model.decoder.layers.2.encoder_attn_layer_norm.weight", &w.decoder[2].cross_norm.g,
         16},
        {"model.decoder.layers.2.self_attn_layer_norm.bias", &w.decoder[2].self_norm.b, 16},
        {"model.decoder.layers.2.final_layer_norm.bias", &w.decoder[2].final_norm.b, 16},
    };
    check_bound(&small, some, sizeof some / sizeof *some);
    const AttentionWeights *cross = &w.decoder[1].cross;
    assert_ptr_equal(cross->q.W.at + 16 * 16, cross->k.W.at);
    assert_ptr_equal(cross->k.W.at + 16 * 16, cross->v.W.at);
    assert_ptr_equal(cross->k.b + 16, cross->v.b);
}

/* The names that options add, and where Weights has them. */
TEST(test_names_of_options)
{
    static const Place some[] = {
        {"model.encoder.embed_tokens.weight", &w.source_embedding.at, 40},
        {"model.decoder.embed_tokens.weight", &w.target_embedding.at, 37},
        {"lm_head.weight", &w.output.at, 37},
        {"model.encoder.embed_positions.weight", &w.source_positions, 8},
        {"model.decoder.embed_positions.weight", &w.target_positions, 8},
        {"model.encoder.layers.0.self_attn_layer_norm.weight", &w.encoder[0].self_norm.g, 16},
        {"model.encoder.layers.1.final_layer_norm.bias", &w.encoder[1].final_norm.b, 16},
        {"model.encoder.layer_norm.weight", &w.encoder_last.g, 16},
        {"model.decoder.layer_norm.bias", &w.decoder_last.b, 16},
    };
    ModelConfig config = small;
    config.norm = NORM_PRE, config.positions = POSITIONS_LEARNED, config.tying = TYING_NONE;
    config.source_vocab = 40;
    check_bound(&config, some, sizeof some / sizeof *some);
    Params params = table(&config);
    assert_null(params_find(&params, "model.shared.weight"));
    params_free(&params);

    config.tying = TYING_DECODER;
    params = table(&config);
    assert_null(params_find(&params, "lm_head.weight"));
    params_bind(&w, (real[]){0}, &config);
    assert_ptr_equal(w.output.at, w.target_embedding.at);
    assert_ptr_not_equal(w.output.at, w.source_embedding.at);
    params_free(&params);
}

/* The formula of model/README.md. */
static size_t formula(const ModelConfig *c)
{
    size_t V_source = (size_t)config_source_vocab(c), length = (size_t)c->max_length;
    size_t V = (size_t)c->vocab, D = (size_t)c->d_model, F = (size_t)c->ffn;
    size_t attention =
               4 * D * D + 4 * D + (c->attention_score == SCORE_COSINE ? (size_t)c->heads : 0),
           ffn = 2 * D * F + F + D, norm = 2 * D;
    size_t embeddings = c->tying == TYING_ALL       ? V * D
                        : c->tying == TYING_DECODER ? (V_source + V) * D
                                                    : (V_source + 2 * V) * D;
    size_t positions = c->positions == POSITIONS_LEARNED ? 2 * length * D : 0;
    return embeddings + positions + (c->norm == NORM_PRE ? 2 * norm : 0) +
           (c->output_bias ? V : 0) + (size_t)c->encoder_layers * (attention + ffn + 2 * norm) +
           (size_t)c->decoder_layers * (2 * attention + ffn + 3 * norm);
}

/* final_logits_bias stays zero unless the configuration asks for it, and does not count
 * then. */
TEST(test_count)
{
    const ModelConfig configs[] = {small, wide, odd, base};
    for (int i = 0; i < 4 + VARIANTS; i++) {
        ModelConfig config = i < 4 ? configs[i] : variant_config(small, &variants[i - 4]);
        Params params = table(&config);
        assert_int_equal(params_trained(&params), formula(&config));
        assert_int_equal(params_find(&params, "final_logits_bias")->trained,
                         config.output_bias);
        params_free(&params);
    }
    assert_int_equal(formula(&base), BASE_COUNT);
    for (int kind = PROJECTIONS_SEPARATE; kind <= PROJECTIONS_NONE; kind++) {
        ModelConfig config = small;
        config.projections = kind;
        Params params = table(&config);
        size_t one = (size_t)small.d_model * (size_t)(small.d_model + 1);
        size_t uses = (size_t)(small.encoder_layers + 2 * small.decoder_layers);
        static const size_t fewer[] = {0, 1, 1, 3};
        assert_int_equal(params_trained(&params), formula(&small) - uses * fewer[kind] * one);
        params_free(&params);
    }
}

/* ---- initial values ---- */

static void check_values(const Tensor *tensor, const real *x, int D)
{
    double sum = 0, squares = 0, largest = 0, n = (double)tensor->count;
    for (size_t i = 0; i < tensor->count; i++) {
        sum += (double)x[i];
        squares += (double)x[i] * (double)x[i];
        largest = fmax(largest, fabs((double)x[i]));
    }
    double bound = sqrt(6.0 / (tensor->shape[0] + tensor->shape[1])), deviation;
    switch (tensor->init) {
    case INIT_ZERO: assert_true(largest == 0); return;
    case INIT_ONE: assert_true(sum == n && squares == n); return;
    case INIT_SCORE: assert_true(sum == 10 * n && largest == 10); return;
    case INIT_EMBEDDING:
        for (int k = 0; k < D; k++) assert_true(x[(tensor->shape[0] - 1) * D + k] == 0);
        n -= D;  // fall through
    case INIT_POSITIONS:
        deviation = 1 / sqrt(D);
        assert_true(largest < 6 * deviation);
        break;
    case INIT_ATTENTION:                  // one [3D,D] matrix
        bound = sqrt(6.0 / (3 * D + D));  // fall through
    default:
        deviation = bound / sqrt(3);
        assert_true(largest <= bound && largest > 0.99 * bound);
    }
    /* The mean's deviation is σ/√n, that of the measured σ less than σ/√(2n): 5 of them. */
    assert_true(fabs(sum / n) < 5 * deviation / sqrt(n));
    assert_true(fabs(sqrt(squares / n) / deviation - 1) < 5 / sqrt(2 * n));
}

TEST(test_initial_values)
{
    for (int i = 0; i < VARIANTS; i++) {
        ModelConfig config = variant_config(wide, &variants[i]);
        Params params = table(&config);
        real *block = block_zeros(params.size * sizeof(real), NULL);
        assert_non_null(block);
        params_initialise(&params, block, 1);
        for (int t = 0; t < params.count; t++)
            check_values(&params.tensor[t], block + params.tensor[t].offset, wide.d_model);
        free(block);
        params_free(&params);
    }
}

/* A tensor's values follow from the seed and its name: the same in another network where it has
 * the same shape, others for another name or seed. */
TEST(test_seed_and_name)
{
    ModelConfig other = small;
    other.vocab = 50, other.encoder_layers = 1, other.decoder_layers = 1;
    Params a = table(&small), b = table(&other);
    real *one = block_zeros(a.size * sizeof(real), NULL),
         *two = block_zeros(b.size * sizeof(real), NULL);
    real *seed = block_zeros(a.size * sizeof(real), NULL);
    assert_true(one && two && seed);
    params_initialise(&a, one, 1);
    params_initialise(&b, two, 1);
    params_initialise(&a, seed, 2);
    int compared = 0;
    for (int t = 0; t < b.count; t++) {
        const Tensor *y = &b.tensor[t], *x = params_find(&a, y->name);
        assert_non_null(x);
        if (x->count != y->count) continue;
        assert_memory_equal(one + x->offset, two + y->offset, x->count * sizeof *one);
        compared++;
        if (x->init != INIT_ATTENTION && x->init != INIT_XAVIER) continue;
        assert_memory_not_equal(one + x->offset, seed + x->offset, x->count * sizeof *one);
    }
    assert_int_equal(compared, b.count - 2);  // all but the embedding and the output's bias
    const Tensor *q = params_find(&a, "model.encoder.layers.0.self_attn.q_proj.weight");
    const Tensor *k = params_find(&a, "model.encoder.layers.0.self_attn.k_proj.weight");
    const Tensor *q1 = params_find(&a, "model.encoder.layers.1.self_attn.q_proj.weight");
    assert_memory_not_equal(one + q->offset, one + k->offset, q->count * sizeof *one);
    assert_memory_not_equal(one + q->offset, one + q1->offset, q->count * sizeof *one);
    free(one), free(two), free(seed);
    params_free(&a), params_free(&b);
}

TEST_MAIN("params", NULL, NULL)
