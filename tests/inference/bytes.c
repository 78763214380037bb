/* The bytes of every hypothesis make characters of UTF-8, whatever the search and its other
 * constraints are. Ids 2 to 9 are placeholders, and the next 256 are bytes. */
#include "base/utf8.h"
#include "inference/shortlist.h"
#include "inference/translator.h"
#include "model/quantised.h"
#include "tests/fixtures/random-model.h"

enum {
    PLACEHOLDER = 2,
    BYTES = PLACEHOLDER + PLACEHOLDERS,
    V = BYTES + 256 + 20,
    S = 12,
    MOST_LENGTH = 40,
};

static Transformer model, rounded;
static Screening screening;
static Shortlist shortlist;
static Packed source;
static Workers *workers;
static Error error;

FIXTURE(setup)
{
    uint16_t *list = calloc(2 * V, sizeof *list);
    for (int c = 0; c < V; c++)  // of all tokens the first byte of a longer character
        list[2 * c] = 1, list[2 * c + 1] = (uint16_t)(BYTES + 0xC2 + c % (0xF5 - 0xC2));
    model = random_model(V, MOST_LENGTH, 31), rounded = random_model(V, MOST_LENGTH, 31);
    source = random_sentences(S, 14, V, 32);
    for (int b = 0x80; b < 256; b++) {
        real more = b < 0xC0 ? 1 : 3;
        model.weights.logits_bias[BYTES + b] += more;
        rounded.weights.logits_bias[BYTES + b] += more;
    }
    workers = workers_start(1, &error);
    return transformer_prepare(&model, false, &error) &&
                   transformer_prepare(&rounded, true, &error) &&
                   screening_open(&screening, &model, &error) &&
                   shortlist_open(&shortlist, list, 2 * V, &model.config, &error)
               ? 0
               : -1;
}

FIXTURE(teardown)
{
    screening_close(&screening);
    shortlist_free(&shortlist);
    transformer_free(&model);
    transformer_free(&rounded);
    free_sentences(source);
    workers_stop(workers);
    return 0;
}

static bool is_text(const Hypothesis *h, int *characters)
{
    char text[MOST_LENGTH];
    for (int t = 0; t < h->length; t++) {
        int byte = h->id[t] - BYTES;
        text[t] = (char)(byte >= 0 && byte < 256 ? byte : ' ');
    }
    bool valid = utf8_is_valid(text, (size_t)h->length, NULL);
    if (valid) *characters += h->length - (int)utf8_count(text, (size_t)h->length);
    return valid;
}

static void check(int which, Ensemble ensemble, SearchConfig config)
{
    Rng rng = rng_stream(which, RNG_TEST, 0);
    int wrong[2] = {0}, characters[2] = {0};
    for (int round = 0; round < 60; round++) {
        config.seed = (uint64_t)round;
        config.max_tokens = round % 3 ? 0 : 12 + (int)rng_below(&rng, 8);
        config.no_repeat_ngram = (int)rng_below(&rng, 3);
        config.min_length = (int)rng_below(&rng, 10);
        for (int constrained = 0; constrained < 2; constrained++) {
            Translations out;
            TranslatorInput input = {.source = source,
                                     .placeholder = round % 2 ? PLACEHOLDER : 0,
                                     .first_byte = constrained ? BYTES : 0};
            if (!translator_run(&out, &ensemble, &input, &config, workers, NULL, &error))
                fail_msg("%s", error.text);
            for (int s = 0; s < S; s++) {
                assert_true(out.sentence[s].count > 0);
                for (int i = 0; i < out.sentence[s].count; i++)
                    wrong[constrained] +=
                        !is_text(&out.sentence[s].hypothesis[i], &characters[constrained]);
            }
            translations_free(&out);
        }
    }
    print_message("%d wrong, then %d; %d bytes go on\n", wrong[0], wrong[1], characters[1]);
    assert_in_range(wrong[0], S, INT32_MAX);
    assert_int_equal(wrong[1], 0);
    assert_in_range(characters[1], 60, INT32_MAX);
}

TEST(hypotheses_are_text)
{
    Ensemble one = ensemble_of(&model), screened = one, listed = ensemble_of(&rounded);
    Ensemble two = {.model = {&model, &rounded}, .count = 2};
    screened.screening = &screening, listed.shortlist = &shortlist;
    SearchConfig greedy = search_default, beam = greedy, sampling = greedy, list = greedy;
    greedy.beam = 1;
    beam.n_best = 4;
    sampling.sample = true, sampling.temperature = 3;
    list.shortlist = true;
    check(1, one, greedy);
    check(2, one, beam);
    check(3, one, sampling);
    check(4, two, beam);
    check(5, listed, list);
    greedy.no_scores = true;
    check(6, screened, greedy);
}

TEST_MAIN("bytes", setup, teardown)
