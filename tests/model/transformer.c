/* transformer.c -- what must be true of the network whatever its weights and options are:
 * sentences do not see each other, the target does not see its future, and neither the cut into
 * micro-batches nor what is kept changes a result. */
#include "model/transformer.h"
#include "base/block.h"
#include "base/rng.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/variants.h"

static const ModelConfig base = {NETWORK(50, 32, 4, 48, 2, 2, 24), .output_bias = true};
static ModelConfig config;  // of the variant that is being tested
enum { D = 32, SENTENCES = 5 };
static const double SMOOTHING = 0.1;
static const Dropout DROPOUT = {
    .residual = 0.2, .activation = 0.1, .attention = 0.3, .seed = 5, .update = 9};

/* Five pairs; the longest is as long as a sentence may be, the shortest is </s> alone. */
static const int source_start[] = {0, 5, 6, 30, 33, 40},
                 target_start[] = {0, 3, 12, 36, 37, 44};
static int source_id[40], target_id[44];
static const Packed source = {SENTENCES, 40, source_id, source_start};
static const Packed target = {SENTENCES, 44, target_id, target_start};

static Transformer model;

static void random_ids(int *id, const int *start, int vocab, uint64_t index)
{
    Rng rng = rng_stream(1, RNG_TEST, index);
    for (int s = 0; s < SENTENCES; s++)
        for (int n = start[s]; n < start[s + 1]; n++)
            id[n] =
                n == start[s + 1] - 1 ? ID_END : 1 + (int)rng_below(&rng, (uint32_t)vocab - 2);
}

FIXTURE(setup)
{
    Error error;
    random_ids(source_id, source_start, config_source_vocab(&config), 1);
    random_ids(target_id, target_start, config.vocab, 2);
    if (!transformer_create(&model, &config, &error)) fail_msg("%s", error.text);
    params_initialise(&model.params, model.block, 1);
    Rng rng = rng_stream(1, RNG_TEST, 3);
    for (int t = 0; t < model.params.count; t++) {  // biases and gains away from 0 and 1
        const Tensor *tensor = &model.params.tensor[t];
        if (tensor->init != INIT_ZERO && tensor->init != INIT_ONE) continue;
        for (size_t i = 0; i < tensor->count; i++)
            model.block[tensor->offset + i] += (real)(0.2 * rng_normal(&rng));
    }
    return 0;
}

/* ---- one pass ---- */

typedef struct Run {
    Arena arena;
    Activations activations;
    Loss loss;
} Run;

static Run run_a, run_b;  // large; each frees its last arena when it is used again

FIXTURE(teardown)
{
    arena_free(&run_a.arena);
    arena_free(&run_b.arena);
    transformer_free(&model);
    return 0;
}

static void run_layout(Run *run, const Packed *from, const Packed *to, const Dropout *dropout,
                       Keep keep)
{
    arena_free(&run->arena);
    *run = (Run){.arena = {0}};
    transformer_layout(&run->activations, &run->arena, &model, from, to, dropout, keep);
    assert_true(arena_reserve(&run->arena, NULL));
    memset(run->arena.base, 0xff, run->arena.size);  // NaNs: no pass may rely on what is there
    transformer_layout(&run->activations, &run->arena, &model, from, to, dropout, keep);
}

static void forward(Run *run, const Packed *from, const Packed *to, const Dropout *dropout,
                    Keep keep)
{
    run_layout(run, from, to, dropout, keep);
    transformer_forward(&run->activations, &model);
    transformer_loss(&run->loss, &run->activations, &model, SMOOTHING);
}

/* A block of gradients, freed by the caller. */
static real *backward(Run *run, const Packed *from, const Packed *to, const Dropout *dropout)
{
    static Weights dw;
    real *block = block_zeros(model.params.size * sizeof(real), NULL);
    assert_non_null(block);
    params_bind(&dw, block, &config);
    run_layout(run, from, to, dropout, KEEP_FOR_BACKWARD);
    transformer_forward(&run->activations, &model);
    transformer_backward(&run->loss, &run->activations, &model, &dw, SMOOTHING, 1);
    return block;
}

/* run_b (=) a pass in which one token is another. */
static void forward_changed(int *id)
{
    int kept = *id;
    *id = kept % 40 + 1;
    forward(&run_b, &source, &target, NULL, KEEP_ATTENTION);
    *id = kept;
}

/* Sentences first .. first+count-1 as a micro-batch of their own. */
static Packed cut(const Packed *all, int first, int count, int start[])
{
    for (int s = 0; s <= count; s++) start[s] = all->start[first + s] - all->start[first];
    return (Packed){count, start[count], all->id + all->start[first], start};
}

static double largest_difference(const real *a, const real *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs((double)a[i] - (double)b[i]);
        if (!(difference <= largest)) largest = difference;
    }
    return largest;
}

static bool same_row(const real *a, const real *b, int n)
{
    return !memcmp(a + n * D, b + n * D, D * sizeof *a);
}

/* ---- sentences ---- */

TEST(test_packed_equals_alone)
{
    forward(&run_a, &source, &target, NULL, KEEP_ATTENTION);
    Loss sum = {0};
    for (int s = 0; s < SENTENCES; s++) {
        int from_start[2], to_start[2];
        Packed from = cut(&source, s, 1, from_start), to = cut(&target, s, 1, to_start);
        forward(&run_b, &from, &to, NULL, KEEP_ATTENTION);
        assert_true(largest_difference(run_a.activations.output + target.start[s] * D,
                                       run_b.activations.output, (size_t)to.rows * D) < 1e-5);
        assert_true(largest_difference(run_a.activations.encoded + source.start[s] * D,
                                       run_b.activations.encoded,
                                       (size_t)from.rows * D) < 1e-5);
        sum.nll += run_b.loss.nll, sum.objective += run_b.loss.objective;
        sum.tokens += run_b.loss.tokens;
    }
    assert_int_equal(sum.tokens, run_a.loss.tokens);
    assert_true(fabs(sum.nll - run_a.loss.nll) < 1e-6 * sum.nll);
    assert_true(fabs(sum.objective - run_a.loss.objective) < 1e-6 * sum.objective);
}

/* Row t+1 is the first that reads token t. All rows up to t, and all other sentences, stay the
 * same to the bit. */
TEST(test_future_unseen)
{
    forward(&run_a, &source, &target, NULL, KEEP_ATTENTION);
    for (int s = 0; s < SENTENCES; s++)
        for (int t = target.start[s]; t < target.start[s + 1]; t++) {
            forward_changed(&target_id[t]);
            for (int n = 0; n < target.rows; n++)
                assert_int_equal(
                    same_row(run_a.activations.output, run_b.activations.output, n),
                    n <= t || n >= target.start[s + 1]);
        }
}

/* A source token is seen by all of its own sentence, both sides, and by no other. */
TEST(test_source_seen)
{
    forward(&run_a, &source, &target, NULL, KEEP_ATTENTION);
    for (int s = 0; s < SENTENCES; s++) {
        forward_changed(&source_id[source.start[s]]);
        for (int other = 0; other < SENTENCES; other++) {
            for (int n = source.start[other]; n < source.start[other + 1]; n++)
                assert_int_equal(
                    same_row(run_a.activations.encoded, run_b.activations.encoded, n),
                    other != s);
            for (int n = target.start[other]; n < target.start[other + 1]; n++)
                assert_int_equal(
                    same_row(run_a.activations.output, run_b.activations.output, n),
                    other != s);
        }
    }
}

/* ---- attention ---- */

/* ---- passes and micro-batches ---- */

TEST(test_kinds_of_pass)
{
    Loss loss[3];
    for (int keep = KEEP_OUTPUT; keep <= KEEP_FOR_BACKWARD; keep++) {
        forward(&run_a, &source, &target, NULL, (Keep)keep);
        loss[keep] = run_a.loss;
    }
    assert_memory_equal(&loss[KEEP_OUTPUT], &loss[KEEP_ATTENTION], sizeof *loss);
    assert_memory_equal(&loss[KEEP_OUTPUT], &loss[KEEP_FOR_BACKWARD], sizeof *loss);
    free(backward(&run_a, &source, &target, NULL));
    assert_memory_equal(&loss[KEEP_OUTPUT], &run_a.loss, sizeof *loss);
}

/* Two passes, the second with another Packed as target, must give the same bits. */
static void assert_same_bits(const Packed *from, const Packed *to, const Packed *other,
                             const Dropout *dropout)
{
    real *a = backward(&run_a, from, to, dropout), *b = backward(&run_b, from, other, dropout);
    assert_memory_equal(&run_a.loss, &run_b.loss, sizeof run_a.loss);
    assert_memory_equal(a, b, model.params.size * sizeof *a);
    free(a), free(b);
}

/* The same pass twice; and one Packed as both sides instead of two equal ones. */
TEST(test_same_bits)
{
    const Packed copy = target;  // whose ids both vocabularies have
    assert_same_bits(&source, &target, &target, &DROPOUT);
    assert_same_bits(&target, &target, &copy, NULL);
}

/* With every dropout on: the gradients of all sentences are those of two plus those of
 * three. */
TEST(test_micro_batches)
{
    Dropout dropout = DROPOUT;
    real *all = backward(&run_a, &source, &target, &dropout);
    Loss loss = {0};
    real *sum = block_zeros(model.params.size * sizeof(real), NULL);
    assert_non_null(sum);
    const int first[] = {0, 2, SENTENCES}, number[] = {0, 1, 2, 3, 4};
    for (int part = 0; part < 2; part++) {
        int from_start[SENTENCES + 1], to_start[SENTENCES + 1];
        int count = first[part + 1] - first[part];
        Packed from = cut(&source, first[part], count, from_start);
        Packed to = cut(&target, first[part], count, to_start);
        dropout.sentence = number + first[part];
        real *some = backward(&run_b, &from, &to, &dropout);
        for (size_t i = 0; i < model.params.size; i++) sum[i] += some[i];
        loss.objective += run_b.loss.objective;
        free(some);
    }
    assert_true(fabs(loss.objective - run_a.loss.objective) < 1e-6 * loss.objective);
    double largest = 0;
    for (size_t i = 0; i < model.params.size; i++)
        largest = fmax(largest, fabs((double)all[i]));
    assert_true(largest_difference(all, sum, model.params.size) < 1e-5 * largest);
    free(all), free(sum);
}

/* What has gone wrong in one weight shows in the loss: no step hides a NaN. */
TEST(test_nan_comes_through)
{
    for (int t = 0; t < model.params.count; t++) {
        const Tensor *tensor = &model.params.tensor[t];
        size_t at = tensor->offset + (size_t)tensor->shape[tensor->dimensions - 1] - 3;
        if (strstr(tensor->name, "encoder.embed_tokens"))
            at = tensor->offset + (size_t)source_id[0] * D;
        if (strstr(tensor->name, "decoder.embed_tokens") || strstr(tensor->name, "shared"))
            at = tensor->offset + (size_t)target_id[0] * D;
        real kept = model.block[at];
        model.block[at] = (real)NAN;
        forward(&run_a, &source, &target, NULL, KEEP_OUTPUT);
        model.block[at] = kept;
        if (!isnan(run_a.loss.nll)) fail_msg("the loss hides a NaN in %s", tensor->name);
    }
}

/* A copy of the weights in their place gives the same, and nothing looks at the old ones. */
TEST(test_other_weights)
{
    size_t bytes = model.params.size * sizeof(real);
    real *own = model.block, *copy = block_zeros(model.params.size * sizeof(real), NULL);
    assert_non_null(copy);
    forward(&run_a, &source, &target, NULL, KEEP_OUTPUT);
    memcpy(copy, own, bytes);
    memset(own, 0xff, bytes);  // NaNs
    transformer_use(&model, copy);
    forward(&run_b, &source, &target, NULL, KEEP_OUTPUT);
    assert_true(run_a.loss.objective == run_b.loss.objective);
    memcpy(own, copy, bytes);
    transformer_use(&model, own);
    assert_true(model.block == own);
    free(copy);
}

int main(void)
{
    int failed = 0;
    for (int i = 0; i < VARIANTS; i++) {
        char name[128];
        snprintf(name, sizeof name, "transformer: %s", variants[i].name);
        config = variant_config(base, &variants[i]);
        failed += run_all_tests(name, setup, teardown);
    }
    return failed;
}
