/* random.c -- gradients of the whole network for random shapes, options, dropout and sentences.
 *
 * Each draw is a function of its seed: width, heads, layers, vocabularies, sentences of 1 to 40
 * tokens, every option of the network, dropout, label smoothing, R-Drop. Each tensor is
 * compared with central differences in three directions of length 1:
 *
 *   all elements at once, with random signs, so that no element is left out
 *   the element with the largest gradient
 *   a random element
 *
 *     GRADIENT_DRAWS=200 build/tests/model/gradients/random     more draws than the usual 24
 *     GRADIENT_SEED=17   build/tests/model/gradients/random     one draw again
 *
 * The loss has kinks where a ReLU begins, and it is steep where a LayerNorm sees nearly equal
 * numbers. A direction that does not agree is compared again with smaller steps: the right
 * gradient agrees as soon as the step is short enough, a wrong one with no step. The score -|q-k|
 * has a kink for every pair and dimension, some of them nearer than a step can be short: there
 * the limit is ten times as high. */
#include "model/transformer.h"
#include "tests/fixtures/check.h"

enum { USUAL_DRAWS = 24, LONGEST = 40, MOST_ROWS = 1400, STEPS = 7 };

typedef struct Draw {
    uint64_t seed;
    Rng rng;
    ModelConfig config;
    Dropout dropout;
    double smoothing, scale;
    int source_id[MOST_ROWS], target_id[MOST_ROWS];
    int source_start[MOST_ROWS + 1], target_start[MOST_ROWS + 1];
    Packed source, target;
} Draw;

static int between(Rng *rng, int least, int most)
{
    return least + (int)rng_below(rng, (uint32_t)(most - least + 1));
}

static bool one_in(Rng *rng, int n)
{
    return rng_below(rng, (uint32_t)n) == 0;
}

static ModelConfig draw_config(Rng *rng)
{
    int heads = between(rng, 1, 5), width = between(rng, 1, 7);
    ModelConfig c = {
        .heads = heads,
        .d_model = heads * width < 2 ? 2 : heads * width,
        .ffn = between(rng, 1, 40),
        .encoder_layers = between(rng, 1, 3),
        .decoder_layers = between(rng, 1, 3),
        .vocab = one_in(rng, 6) ? between(rng, LOSS_CLASSES - 1, 2 * LOSS_CLASSES + 3)
                                : between(rng, 4, 30),
        .max_length = LONGEST,
        .activation = between(rng, ACTIVATION_RELU, ACTIVATION_SWISH),
        .norm = between(rng, NORM_POST, NORM_PRE),
        .positions = between(rng, POSITIONS_SINUSOIDAL, POSITIONS_NONE),
        .tying = between(rng, TYING_ALL, TYING_NONE),
        .output_bias = one_in(rng, 2),
        .attention_score = between(rng, SCORE_SCALED_DOT, SCORE_LAPLACE),
        .projections = between(rng, PROJECTIONS_SEPARATE, PROJECTIONS_NONE),
    };
    if (c.tying != TYING_ALL && one_in(rng, 2)) c.source_vocab = between(rng, 4, 30);
    return c;
}

/* 0, a usual rate, or the highest. */
static double draw_rate(Rng *rng, double highest)
{
    int kind = between(rng, 0, 5);
    return kind < 2 ? 0 : kind == 2 ? highest : highest * rng_uniform(rng);
}

/* S sentences, and with R-Drop their copies. */
static Packed draw_rows(Rng *rng, int *id, int *start, int S, int longest, int V, bool copies)
{
    start[0] = 0;
    for (int s = 0; s < S; s++) {
        int length = one_in(rng, 4) ? 1 : between(rng, 1, longest);
        start[s + 1] = start[s] + length;
        for (int n = start[s]; n < start[s + 1]; n++) id[n] = between(rng, 0, V - 2);
        id[start[s + 1] - 1] = 0;  // </s>
    }
    int N = start[S], times = copies ? 2 : 1;
    for (int n = N; n < times * N; n++) id[n] = id[n - N];
    for (int s = S; s <= times * S; s++) start[s] = start[s - S] + N;
    start[S] = N;
    return (Packed){times * S, times * N, id, start};
}

static void draw(Draw *d, uint64_t seed)
{
    Rng *rng = &d->rng;
    *d = (Draw){.seed = seed, .rng = rng_stream(seed, RNG_TEST, 1)};
    d->config = draw_config(rng);
    d->smoothing = draw_rate(rng, 0.9);
    d->scale = 0.1 + rng_uniform(rng);
    bool many = one_in(rng, 16);  // more than the LOSS_ROWS of one block
    int S = many ? 110 : between(rng, 1, 6), longest = many ? 10 : between(rng, 1, LONGEST);
    if (many) {
        d->config.vocab = d->config.source_vocab = 9;
        d->config.encoder_layers = d->config.decoder_layers = 1;
    }
    d->dropout = (Dropout){.residual = draw_rate(rng, 0.9),
                           .activation = draw_rate(rng, 0.9),
                           .attention = draw_rate(rng, 0.9),
                           .seed = seed,
                           .update = 1 + rng_below(rng, 100)};
    if (one_in(rng, 3)) d->dropout.copy = S, d->dropout.r_drop = 0.1 + 5 * rng_uniform(rng);
    bool copies = d->dropout.copy > 0;
    d->source = draw_rows(rng, d->source_id, d->source_start, S, longest,
                          config_source_vocab(&d->config), copies);
    d->target =
        draw_rows(rng, d->target_id, d->target_start, S, longest, d->config.vocab, copies);
}

static void print_draw(const Draw *d)
{
    const ModelConfig *c = &d->config;
    const Dropout *p = &d->dropout;
    print_message(
        "seed %llu: V %d,%d D %d H %d F %d layers %d,%d activation %d norm %d "
        "positions %d tying %d bias %d score %d projections %d S %d N %d M %d smoothing %.2f "
        "dropout %.2f %.2f %.2f r-drop %.2f\n",
        (unsigned long long)d->seed, config_source_vocab(c), c->vocab, c->d_model, c->heads,
        c->ffn, c->encoder_layers, c->decoder_layers, c->activation, c->norm, c->positions,
        c->tying, c->output_bias, c->attention_score, c->projections, d->source.sentences,
        d->source.rows, d->target.rows, d->smoothing, p->residual, p->activation, p->attention,
        p->r_drop);
}

/* ---- the comparison ---- */

typedef struct Case {
    const Draw *draw;
    Activations activations;
    Transformer model;
    double floor;  // of the scale that errors are relative to: the noise grows with the loss
    Check check;
    int tensors, flat;  // of them, those that the loss does not depend on
} Case;

/* Copies follow their originals. */
static double loss(Case *c)
{
    const Params *params = &c->model.params;
    real *block = c->model.block;
    for (const Tensor *t = params->tensor; t < params->tensor + params->count; t++)
        if (t->copy) memcpy(block + t->offset, block + t[-1].offset, t->count * sizeof *block);
    Loss sum = {0};
    transformer_forward(&c->activations, &c->model);
    transformer_loss(&sum, &c->activations, &c->model, c->draw->smoothing);
    return c->draw->scale * sum.objective;
}

/* (loss(x + step · direction) - loss(x - step · direction)) / 2 step; x is as before. */
static double slope_along(Case *c, real *x, const real *direction, size_t count, double step)
{
    real *kept = copy_of(x, count);
    for (size_t i = 0; i < count; i++) x[i] = kept[i] + step * direction[i];
    double above = loss(c);
    for (size_t i = 0; i < count; i++) x[i] = kept[i] - step * direction[i];
    double below = loss(c);
    memcpy(x, kept, count * sizeof *x);
    free(taken[--taken_count]);
    return (above - below) / (2 * step);
}

/* largest: of the tensor's gradients */
static void compare(Case *c, const char *name, const char *what, real *x, const real *gradient,
                    const real *direction, size_t count, double largest)
{
    double analytic = inner(gradient, direction, count), numeric = 0, error = INFINITY;
    double step = STEP, kinks = c->draw->config.attention_score == SCORE_LAPLACE ? 10 : 1;
    for (int i = 0; i < STEPS && !(error < LIMIT); i++, step /= 8) {
        double tried = (4 * slope_along(c, x, direction, count, step) -
                        slope_along(c, x, direction, count, 2 * step)) /
                       3;
        double by = fabs(analytic - tried) / fmax(c->floor, largest) / kinks;
        if (!(by >= error)) numeric = tried, error = by;
    }
    c->check.elements++;
    if (error <= c->check.worst) return;
    c->check.worst = error;
    snprintf(c->check.worst_at, sizeof c->check.worst_at, "%s, %s: %.9g, should be %.9g", name,
             what, analytic, numeric);
}

static void compare_tensor(Case *c, const char *name, real *x, const real *gradient,
                           size_t count, Rng *rng)
{
    real *direction = numbers(count);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        direction[i] = (one_in(rng, 2) ? 1 : -1) / sqrt((real)count);
        if (!(fabs(gradient[i]) <= fabs(gradient[at]))) at = i;
    }
    double largest = fabs(gradient[at]);
    c->tensors++;
    c->flat += largest < c->floor;
    compare(c, name, "all elements", x, gradient, direction, count, largest);
    compare(c, name, "the largest", x + at, gradient + at, &(real){1}, 1, largest);
    at = rng_below(rng, (uint32_t)count);
    compare(c, name, "a random one", x + at, gradient + at, &(real){1}, 1, largest);
    free(taken[--taken_count]);
}

static void compare_all(Case *c, real *after, const real *before, Rng *rng)
{
    const Params *params = &c->model.params;
    for (size_t i = 0; i < params->size; i++) after[i] -= before[i];
    params_share(params, after);
    for (int t = 0; t < params->count; t++) {
        const Tensor *tensor = &params->tensor[t];
        real *gradient = after + tensor->offset;
        // <pad>, the last row of an embedding, stays zero and gets no gradient
        bool has_pad = strstr(tensor->name, "shared") || strstr(tensor->name, "embed_tokens") ||
                       strstr(tensor->name, "lm_head");
        size_t pad = has_pad ? (size_t)tensor->shape[1] : 0,
               count = tensor->trained || tensor->frozen ? tensor->count - pad : 0;
        if (tensor->copy) {
            assert_memory_equal(gradient, gradient - tensor->count,
                                tensor->count * sizeof *gradient);
            continue;
        }
        for (size_t i = count; i < tensor->count; i++) assert_true(gradient[i] == 0);
        if (count)
            compare_tensor(c, tensor->name, c->model.block + tensor->offset, gradient, count,
                           rng);
    }
}

static void prepare(Case *c, Arena *arena, Draw *d)
{
    *c = (Case){.draw = d};
    assert_true(config_check(&d->config, NULL));
    assert_true(transformer_create(&c->model, &d->config, NULL));
    const Params *params = &c->model.params;
    params_initialise(params, c->model.block, d->seed);
    for (int t = 0; t < params->count; t++)
        for (size_t i = 0; i < params->tensor[t].count; i++)
            c->model.block[params->tensor[t].offset + i] += rng_uniform(&d->rng) / 2 - 0.25;
    LAYOUT(arena, transformer_layout(&c->activations, arena, &c->model, &d->source, &d->target,
                                     &d->dropout, KEEP_FOR_BACKWARD));
}

static void check_draw(uint64_t seed, int *tensors, int *flat)
{
    static Draw d;
    static Case c;
    static Weights dw;
    Arena arena = {0};
    draw(&d, seed);
    print_draw(&d);
    char name[32];
    snprintf(name, sizeof name, "GRADIENT_SEED=%llu", (unsigned long long)seed);
    prepare(&c, &arena, &d);
    Added gradient = added(c.model.params.size);
    params_bind(&dw, gradient.now, &d.config);
    Loss backward = {0};
    double forward = loss(&c);
    c.check.layer = name;
    c.floor = fmax(SMALLEST_SCALE, 1e-4 * forward);
    transformer_backward(&backward, &c.activations, &c.model, &dw, d.smoothing, (real)d.scale);
    assert_true(isfinite(forward) && d.scale * backward.objective == forward);
    compare_all(&c, gradient.now, gradient.before, &d.rng);
    check_report(&c.check);
    *tensors += c.tensors;
    *flat += c.flat;
    arena_free(&arena);
    transformer_free(&c.model);
    numbers_free();
}

TEST(random_draws)
{
    const char *one = getenv("GRADIENT_SEED"), *many = getenv("GRADIENT_DRAWS");
    int draws = one ? 1 : many ? atoi(many) : USUAL_DRAWS, tensors = 0, flat = 0;
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    assert_true(draws > 0);
    for (int i = 0; i < draws; i++) check_draw(first + (uint64_t)i, &tensors, &flat);
    print_message("%d draws, %d tensors, %d with next to no gradient\n", draws, tensors, flat);
    if (!one) assert_true(flat * 3 < tensors);  // else zero gradients would pass
}

TEST_MAIN("gradients/random", NULL, check_teardown)
