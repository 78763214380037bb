/* Many sentences: order kept, threads and batches change nothing, and what it refuses. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "inference/scoring.h"
#include "inference/translator.h"
#include "tests/fixtures/searches.h"

enum { V = 60, MOST_LENGTH = 48 };

static Transformer model;
static Workers *workers[4];  // of 1, 2 and 3 threads
static Error error;

static int setup(void **state)
{
    (void)state;
    model = random_model(V, MOST_LENGTH, 71);
    model.weights.logits_bias[ID_END] += 1;
    for (int threads = 1; threads <= 3; threads++)
        if (!(workers[threads] = workers_start(threads, &error))) return -1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) workers_stop(workers[threads]);
    transformer_free(&model);
    return 0;
}

static bool run_translator(Translations *out, const Packed *source, const SearchConfig *config,
                           Workers *threads, const volatile sig_atomic_t *stop, Error *why)
{
    Ensemble alone = ensemble_of(&model);
    TranslatorInput input = {.source = *source};
    return translator_run(out, &alone, &input, config, threads, stop, why);
}

/* The sentences in three batches and more, by one, two and three threads: the same bits. */
TEST(threads_change_nothing)
{
    enum { S = 150 };
    Packed source = random_sentences(S, 20, V, 72);
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = search_default;
        config.beam = config.n_best = beam;
        Translations first, other;
        assert_true(run_translator(&first, &source, &config, workers[1], NULL, &error));
        assert_int_equal(first.sentences, S);
        assert_false(first.stopped);
        for (int threads = 2; threads <= 3; threads++) {
            assert_true(
                run_translator(&other, &source, &config, workers[threads], NULL, &error));
            for (int s = 0; s < S; s++) {
                assert_int_equal(first.sentence[s].count, beam);
                assert_int_equal(other.sentence[s].count, beam);
                for (int i = 0; i < beam; i++) {
                    const Hypothesis *a = &first.sentence[s].hypothesis[i];
                    const Hypothesis *b = &other.sentence[s].hypothesis[i];
                    assert_true(same_ids(a, b));
                    assert_true(a->score == b->score);
                    assert_true(a->log_probability == b->log_probability);
                }
            }
            translations_free(&other);
        }
        translations_free(&first);
    }
    free_sentences(source);
}

/* Alone or among others, in order: the same ids, and the log probability up to rounding, since
 * BLAS adds in another order for another number of rows. */
TEST(alone_or_among_others)
{
    enum { S = 100 };
    Packed source = random_sentences(S, 20, V, 73);
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = search_default;
        config.beam = beam;
        Translations all, alone;
        int other_bits = 0;
        double worst = 0;
        assert_true(run_translator(&all, &source, &config, workers[2], NULL, &error));
        for (int s = 0; s < S; s++) {
            int start[2];
            Packed one = only(&source, s, start);
            assert_true(run_translator(&alone, &one, &config, workers[1], NULL, &error));
            const Hypothesis *a = all.sentence[s].hypothesis, *b = alone.sentence[0].hypothesis;
            double d = fabs(a->log_probability - b->log_probability);
            assert_true(same_ids(a, b));
            assert_true(d < 5e-3);
            other_bits += d != 0;
            if (d > worst) worst = d;
            translations_free(&alone);
        }
        print_message("beam %d: %d of %d with the last bits different, by at most %.0e\n", beam,
                      other_bits, S, worst);
        translations_free(&all);
    }
    free_sentences(source);
}

/* What the search says of a sentence is what the whole network says of it. */
TEST(log_probability_is_the_models)
{
    enum { S = 20 };
    Packed source = random_sentences(S, 20, V, 74);
    SearchConfig config = search_default;
    config.n_best = 3;
    config.length_penalty = 0.7;
    Translations all;
    Ensemble alone = ensemble_of(&model);
    assert_true(run_translator(&all, &source, &config, workers[1], NULL, &error));
    for (int s = 0; s < S; s++)
        for (int i = 0; i < all.sentence[s].count; i++) {
            const Hypothesis *hypothesis = &all.sentence[s].hypothesis[i];
            int start[2], length = hypothesis->length;
            Packed from = packed_slice(start, &source, s, s + 1);
            Packed to = {1, length, hypothesis->id, (int[]){0, length}};
            double each[MOST_LENGTH], sum = 0;
            assert_true(scoring_run(each, &alone, &from, &to, workers[1], NULL, &error));
            for (int t = 0; t < hypothesis->length; t++) sum += each[t];
            assert_true(fabs(sum - hypothesis->log_probability) < 1e-4);
            assert_true(fabs(sum / pow(hypothesis->length, 0.7) - hypothesis->score) < 1e-4);
        }
    translations_free(&all);
    free_sentences(source);
}

TEST(stopping)
{
    Packed source = random_sentences(100, 10, V, 75);
    volatile sig_atomic_t stop = 0;
    Translations out;
    assert_true(run_translator(&out, &source, &search_default, workers[2], &stop, &error));
    assert_false(out.stopped);
    for (int s = 0; s < 100; s++) assert_int_equal(out.sentence[s].count, 1);
    translations_free(&out);
    stop = 1;
    assert_true(run_translator(&out, &source, &search_default, workers[2], &stop, &error));
    assert_true(out.stopped);
    for (int s = 0; s < 100; s++) assert_int_equal(out.sentence[s].count, 0);
    translations_free(&out);
    free_sentences(source);
}

TEST(longest_and_none)
{
    int id[MOST_LENGTH] = {0};
    for (int t = 0; t < MOST_LENGTH - 1; t++) id[t] = 2 + t;
    Packed longest = {1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}};
    Packed none = {0, 0, id, (int[]){0}};
    Translations out;
    assert_true(run_translator(&out, &longest, &search_default, workers[1], NULL, &error));
    assert_int_equal(out.sentence[0].count, 1);
    assert_in_range(out.sentence[0].hypothesis->length, 1, MOST_LENGTH);
    translations_free(&out);
    assert_true(run_translator(&out, &none, &search_default, workers[2], NULL, &error));
    assert_int_equal(out.sentences, 0);
    assert_false(out.stopped);
    translations_free(&out);
}

TEST(refusals)
{
    static int too_long[MOST_LENGTH + 1];
    for (int t = 0; t < MOST_LENGTH; t++) too_long[t] = 2;
    const struct {
        const int *id;
        int length;
        const char *says;
    } wrong[] = {
        {too_long, MOST_LENGTH + 1,
         "sentence 2: a sentence has 49 tokens, but the model takes 1 to 48"},
        {too_long, 0, "sentence 2: a sentence has 0 tokens, but the model takes 1 to 48"},
        {(int[]){2, V - 1, 0}, 3, "sentence 2: token 2 is 59, but the vocabulary has 0 to 58"},
        {(int[]){-1, 0}, 2, "sentence 2: token 1 is -1, but the vocabulary has 0 to 58"},
        {(int[]){2, 3}, 2, "sentence 2: token 2 of 2 is not </s>, which ends a sentence"},
        {(int[]){2, 0, 0}, 3, "sentence 2: token 2 of 3 is </s>, which ends a sentence"},
    };
    Translations out;
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        int id[MOST_LENGTH + 2] = {0}, n = wrong[w].length;
        memcpy(id + 1, wrong[w].id, (size_t)n * sizeof *id);
        Packed source = {2, n + 1, id, (int[]){0, 1, n + 1}};
        assert_false(run_translator(&out, &source, &search_default, workers[1], NULL, &error));
        assert_string_equal(error.text, wrong[w].says);
    }
    Packed fine = {1, 1, (int[]){0}, (int[]){0, 1}};
    SearchConfig config = search_default;
    config.n_best = 5;
    assert_false(run_translator(&out, &fine, &config, workers[1], NULL, &error));
    assert_string_equal(error.text,
                        "`n-best` 5 is more than `beam` 4, the number of hypotheses");

    real bias = model.weights.logits_bias[9];
    model.weights.logits_bias[9] = INFINITY;
    assert_false(run_translator(&out, &fine, &search_default, workers[3], NULL, &error));
    model.weights.logits_bias[9] = bias;
    assert_non_null(strstr(error.text, "NaN or infinity"));
}

TEST(options)
{
    SearchConfig config = search_default;
    OptionGroup group = {"Search", NULL, search_options, search_option_count, &config};
    char *argv[] = {
        "translate",          "--beam", "8",        "--n-best=3", "--length-penalty", "0.5",
        "--max-length-ratio", "1.5",    "--unknown"};
    assert_true(options_parse(&group, 1, 9, argv, NULL, &error));
    assert_int_equal(config.beam, 8);
    assert_int_equal(config.n_best, 3);
    assert_true(config.length_penalty == 0.5 && config.max_length_ratio == 1.5);
    assert_true(config.unknown);
    assert_false(options_set(&group, 1, "beam", "65", &error));
    assert_false(options_set(&group, 1, "length-penalty", "-1", &error));
}

int main(void)
{
    return run_all_tests("translator", setup, teardown);
}
