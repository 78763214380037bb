/* What may come next, against the definitions, and what searches give where something is forced,
 * forbidden or made dearer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/packed.h"
#include "inference/constraints.h"
#include "inference/scoring.h"
#include "inference/translator.h"
#include "tests/random-model.h"

enum { V = 60, MOST_LENGTH = 48, S = 40 };

static Transformer model;
static Ensemble alone;
static Packed source;
static Workers *workers;
static Error error;

static int setup(void **state)
{
    (void)state;
    model = random_model(V, MOST_LENGTH, 71);
    model.weights.logits_bias[ID_END] += 1;
    alone = ensemble_of(&model);
    source = random_sentences(S, 14, V, 72);
    return (workers = workers_start(2, &error)) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    workers_stop(workers);
    transformer_free(&model);
    free_sentences(source);
    return 0;
}

/* ---- the scores of one row ---- */

/* Whether written and c have the n-gram that c completes twice. */
static bool comes_again(const int *written, int count, int c, int n)
{
    for (int begin = 0; begin + n <= count; begin++) {
        bool same = written[begin + n - 1] == c;
        for (int i = 0; i < n - 1; i++)
            same &= written[begin + i] == written[count - n + 1 + i];
        if (same) return true;
    }
    return false;
}

static void against_the_definitions(void **state)
{
    (void)state;
    enum { C = 6, ROUNDS = 3000 };
    Rng rng = rng_stream(1, RNG_TEST, 0);
    int forbidden = 0, dearer = 0, ended = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int written[12], count = (int)rng_below(&rng, 12);
        for (int i = 0; i < count; i++) written[i] = 2 + (int)rng_below(&rng, C - 2);
        SearchConfig config = {.no_repeat_ngram = (int)rng_below(&rng, 4),
                               .repetition_penalty = 1 + 0.5 * rng_below(&rng, 2),
                               .min_length = (int)rng_below(&rng, 14),
                               .unknown = rng_below(&rng, 2)};
        real before[C], z[C];
        for (int c = 0; c < C; c++) before[c] = z[c] = (real)rng_normal(&rng);
        double normaliser = search_normaliser(z, C);
        constraints_apply(z, C, normaliser, written, count + 1, &(SearchTask){0}, &config);
        bool all = true;
        for (int c = 1; c < C; c++) {
            bool never = (c == ID_UNKNOWN && !config.unknown) ||
                         (config.no_repeat_ngram &&
                          comes_again(written, count, c, config.no_repeat_ngram));
            double expected = before[c] - normaliser;
            for (int i = 0; i < count; i++)
                if (written[i] == c) {
                    expected *= config.repetition_penalty, dearer++;
                    break;
                }
            if (never)
                assert_true(z[c] == -INFINITY);
            else
                assert_true(fabs(z[c] - normaliser - expected) < 1e-5);
            forbidden += never;
            all &= never;
        }
        if (count < config.min_length && !all)
            assert_true(z[ID_END] == -INFINITY);
        else
            assert_true(z[ID_END] == before[ID_END]);
        ended += count < config.min_length && all;
    }
    print_message("%d forbidden, %d dearer, %d ended\n", forbidden, dearer, ended);
    assert_true(forbidden > ROUNDS && dearer > ROUNDS && ended > 20);
}

/* ---- searches ---- */

static void run(Translations *out, const SearchConfig *config, const Packed *prefix)
{
    TranslatorInput input = {.source = source, .prefix = prefix, .line = 1};
    if (!translator_run(out, &alone, &input, config, workers, NULL, &error))
        fail_msg("%s", error.text);
}

/* A sentence may have as many <unk> as its source, or as many as it likes. */
static void as_many_unknown_as_the_source(void **state)
{
    (void)state;
    real bias = model.weights.logits_bias[ID_UNKNOWN];
    model.weights.logits_bias[ID_UNKNOWN] += 6;
    for (int which = 0; which < 2; which++) {
        SearchConfig config = search_default;
        Translations out;
        int all = 0, anywhere = 0;
        config.beam = which ? 3 : 1;
        for (int way_of = 0; way_of < 3; way_of++) {
            config.copy_unknown = way_of == 1;
            config.unknown = way_of == 2;
            run(&out, &config, NULL);
            for (int s = 0; s < S; s++) {
                const Hypothesis *best = out.sentence[s].hypothesis;
                int written = 0, read = 0;
                for (int t = 0; t < best->length; t++) written += best->id[t] == ID_UNKNOWN;
                for (int t = source.start[s]; t < source.start[s + 1]; t++)
                    read += source.id[t] == ID_UNKNOWN;
                if (way_of < 2) assert_in_range(written, 0, way_of ? read : 0);
                if (way_of == 1) all += written;
                if (way_of == 2) anywhere += written;
            }
            translations_free(&out);
        }
        print_message("%d where the source has some, %d anywhere\n", all, anywhere);
        assert_true(all > 0 && anywhere > all);
    }
    model.weights.logits_bias[ID_UNKNOWN] = bias;
}

static bool repeats(const Hypothesis *h, int n)
{
    for (int i = 0; i + n < h->length; i++)
        for (int j = 0; j < i; j++)
            if (!memcmp(h->id + i, h->id + j, (size_t)n * sizeof *h->id)) return true;
    return false;
}

/* Greedy search, beam search, and samples. */
static SearchConfig way(int which)
{
    SearchConfig config = search_default;
    if (which == 0) config.beam = 1;
    if (which == 1) config.n_best = 3;
    if (which == 2) config.sample = true, config.n_best = 3, config.top_k = 4;
    return config;
}

static void no_ngram_comes_twice(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++)
        for (int n = 1; n <= 3; n++) {
            SearchConfig config = way(which);
            int would = 0;
            for (int ban = 0; ban < 2; ban++) {
                Translations out;
                config.no_repeat_ngram = ban ? n : 0;
                run(&out, &config, NULL);
                for (int s = 0; s < S; s++)
                    for (int i = 0; i < out.sentence[s].count; i++) {
                        bool again = repeats(&out.sentence[s].hypothesis[i], n);
                        if (ban) assert_false(again);
                        would += again;
                    }
                translations_free(&out);
            }
            assert_true(would > 0);
        }
}

static void as_long_as_asked(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        SearchConfig config = way(which);
        Translations out;
        config.min_length = 12;
        config.max_tokens = 20;
        run(&out, &config, NULL);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < out.sentence[s].count; i++)
                assert_in_range(out.sentence[s].hypothesis[i].length, 13, 20);
        translations_free(&out);
    }
}

/* log p of what was found, as scoring has it. */
static void check_scores(const Translations *out)
{
    int id[MOST_LENGTH * S], start[S + 1] = {0};
    double each[MOST_LENGTH * S];
    for (int s = 0; s < S; s++) {
        const Hypothesis *best = out->sentence[s].hypothesis;
        memcpy(id + start[s], best->id, (size_t)best->length * sizeof *id);
        start[s + 1] = start[s] + best->length;
    }
    Packed target = {S, start[S], id, start};
    assert_true(scoring_run(each, &alone, &source, &target, workers, NULL, &error));
    for (int s = 0; s < S; s++) {
        double sum = 0;
        for (int t = start[s]; t < start[s + 1]; t++) sum += each[t];
        assert_true(fabs(sum - out->sentence[s].hypothesis->log_probability) < 1e-3);
    }
}

static void a_forced_beginning(void **state)
{
    (void)state;
    int id[3 * S], start[S + 1];
    for (int s = 0; s <= S; s++) start[s] = 3 * s;
    Rng rng = rng_stream(5, RNG_TEST, 0);
    for (int i = 0; i < 3 * S; i++) id[i] = 1 + (int)rng_below(&rng, V - 2);
    Packed own = {S, 3 * S, id, start}, one = {1, 2, id, (int[]){0, 2}};
    for (int which = 0; which < 3; which++) {
        SearchConfig config = way(which);
        Translations out;
        run(&out, &config, &own);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < out.sentence[s].count; i++) {
                assert_true(out.sentence[s].hypothesis[i].length >= 4);
                assert_memory_equal(out.sentence[s].hypothesis[i].id, id + 3 * s,
                                    3 * sizeof *id);
            }
        if (which < 2) check_scores(&out);
        translations_free(&out);
        run(&out, &config, &one);
        for (int s = 0; s < S; s++)
            assert_memory_equal(out.sentence[s].hypothesis->id, id, 2 * sizeof *id);
        translations_free(&out);
    }
}

/* A translation that is forced to begin as it begins anyhow is the same one. */
static void its_own_beginning_changes_nothing(void **state)
{
    (void)state;
    SearchConfig config = way(0);
    Translations free_run, forced;
    run(&free_run, &config, NULL);
    int id[MOST_LENGTH * S], start[S + 1] = {0};
    for (int s = 0; s < S; s++) {
        const Hypothesis *best = free_run.sentence[s].hypothesis;
        int half = best->length / 2;
        memcpy(id + start[s], best->id, (size_t)half * sizeof *id);
        start[s + 1] = start[s] + half;
    }
    Packed prefix = {S, start[S], id, start};
    run(&forced, &config, &prefix);
    int ended = 0;
    for (int s = 0; s < S; s++) {
        const Hypothesis *a = free_run.sentence[s].hypothesis,
                         *b = forced.sentence[s].hypothesis;
        int n = source.start[s + 1] - source.start[s];
        if (a->length == search_limit(&config, &model.config, n, 0))
            continue;  // it has more room
        assert_int_equal(a->length, b->length);
        assert_memory_equal(a->id, b->id, (size_t)a->length * sizeof *a->id);
        assert_true(fabs(a->log_probability - b->log_probability) < 1e-3);
        ended++;
    }
    print_message("%d of %d ended\n", ended, S);
    assert_in_range(ended, 10, S);
    translations_free(&free_run);
    translations_free(&forced);
}

/* Each alternative is what a search finds that is forced to begin with its first token; and those
 * are the most probable first tokens. */
static void alternatives_are_forced_searches(void **state)
{
    (void)state;
    enum { N = 5 };
    int compared = 0;
    Packed before = {1, 1, (int[]){7}, (int[]){0, 1}};
    for (int beam = 1; beam <= 3; beam += 2)
        for (int with = 0; with < 2; with++) {
            SearchConfig config = search_default, single = search_default;
            Translations out, forced;
            config.beam = single.beam = beam;
            config.alternatives = N;
            run(&out, &config, with ? &before : NULL);
            for (int s = 0; s < S; s++) assert_int_equal(out.sentence[s].count, N);
            for (int i = 0; i < N; i++) {
                int id[2 * S], start[S + 1] = {0};
                for (int s = 0; s < S; s++) {
                    int *to = id + start[s];
                    if (with) *to++ = 7;
                    int first = out.sentence[s].hypothesis[i].id[with];
                    if (first != ID_END) *to++ = first;
                    start[s + 1] = (int)(to - id);
                }
                Packed prefix = {S, start[S], id, start};
                run(&forced, &single, &prefix);
                for (int s = 0; s < S; s++) {
                    const Hypothesis *a = &out.sentence[s].hypothesis[i];
                    const Hypothesis *b = forced.sentence[s].hypothesis;
                    for (int j = 0; j < i; j++)
                        assert_true(a->id[with] != out.sentence[s].hypothesis[j].id[with]);
                    if (i) assert_true(a->score <= a[-1].score);
                    int n = source.start[s + 1] - source.start[s];
                    int most = search_limit(&config, &model.config, n, with);
                    if (a->id[with] == ID_END || a->length >= most || b->length >= most)
                        continue;  // the forced one has room for more
                    compared++;
                    assert_int_equal(a->length, b->length);
                    assert_memory_equal(a->id, b->id, (size_t)a->length * sizeof *a->id);
                }
                translations_free(&forced);
            }
            translations_free(&out);
        }
    print_message("%d compared\n", compared);
    assert_true(compared > 100);
}

/* More is asked for than there is. */
static void fewer_alternatives_than_asked_for(void **state)
{
    (void)state;
    Transformer small = random_model(6, 8, 3);
    Ensemble one = ensemble_of(&small);
    TranslatorInput input = {.source = {1, 2, (int[]){2, 0}, (int[]){0, 2}}};
    SearchConfig config = search_default;
    Translations out;
    config.alternatives = 60;
    assert_true(translator_run(&out, &one, &input, &config, workers, NULL, &error));
    assert_int_equal(out.sentence[0].count, 4);  // </s> and three pieces
    translations_free(&out);
    transformer_free(&small);
}

/* The same samples for a line, whatever is beside it. */
static void samples_belong_to_their_line(void **state)
{
    (void)state;
    SearchConfig config = search_default;
    config.sample = true;
    config.n_best = 3;
    Translations all, some;
    run(&all, &config, NULL);
    config.batch_rows = 5;
    int different = 0;
    for (int s = 0; s + 2 <= S; s += 3) {
        int start[3];
        for (int i = 0; i < 3; i++) start[i] = source.start[s + i] - source.start[s];
        TranslatorInput input = {.source = {2, start[2], source.id + source.start[s], start},
                                 .line = 1 + (uint64_t)s};
        assert_true(translator_run(&some, &alone, &input, &config, workers, NULL, &error));
        for (int i = 0; i < 2; i++)
            for (int n = 0; n < 3; n++) {
                const Hypothesis *a = &all.sentence[s + i].hypothesis[n];
                const Hypothesis *b = &some.sentence[i].hypothesis[n];
                assert_int_equal(a->length, b->length);
                assert_memory_equal(a->id, b->id, (size_t)a->length * sizeof *a->id);
                different += n && (a->length != a[-1].length ||
                                   memcmp(a->id, a[-1].id, (size_t)a->length * sizeof *a->id));
            }
        translations_free(&some);
    }
    assert_true(different > S / 3);  // samples of a line differ from each other
    translations_free(&all);
    config.batch_rows = 128;
    config.seed = 2;
    run(&some, &config, NULL);
    check_scores(&some);  // and their log p is the model's
    translations_free(&some);
}

/* Scores that nobody asks for change no token. */
static void without_scores(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        Translations with, without;
        SearchConfig config = way(which);
        run(&with, &config, NULL);
        config.no_scores = true;
        run(&without, &config, NULL);
        for (int s = 0; s < S; s++) {
            const Hypothesis *a = with.sentence[s].hypothesis,
                             *b = without.sentence[s].hypothesis;
            assert_int_equal(a->length, b->length);
            assert_memory_equal(a->id, b->id, (size_t)a->length * sizeof *a->id);
        }
        translations_free(&with);
        translations_free(&without);
    }
}

static void refuse(SearchConfig config, const Packed *prefix, const char *says)
{
    TranslatorInput input = {.source = source, .prefix = prefix};
    Translations out;
    assert_false(translator_run(&out, &alone, &input, &config, workers, NULL, &error));
    if (!strstr(error.text, says)) fail_msg("said: %s", error.text);
}

static void refusals(void **state)
{
    (void)state;
    SearchConfig config = search_default;
    int id[MOST_LENGTH];
    for (int t = 0; t < MOST_LENGTH; t++) id[t] = 3;
    Packed prefix = {1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}};
    refuse(config, &prefix, "beginning has 48 tokens, and a translation may have 48");
    prefix = (Packed){2, 2, id, (int[]){0, 1, 2}};
    refuse(config, &prefix, "40 sentences, but 2 forced beginnings");
    id[1] = V - 1;
    prefix = (Packed){1, 2, id, (int[]){0, 2}};
    refuse(config, &prefix, "token 2 of the forced beginning of sentence 1 is 59");
    id[1] = ID_END;
    refuse(config, &prefix, "token 2 of the forced beginning of sentence 1 is 0");
    config.sample = true, config.alternatives = 2;
    refuse(config, NULL, "--alternatives");
    config = search_default, config.alternatives = 2, config.n_best = 2;
    refuse(config, NULL, "--n-best");
    config = search_default, config.min_length = 9, config.max_tokens = 9;
    refuse(config, NULL, "--min-length 9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_the_definitions),
        cmocka_unit_test(no_ngram_comes_twice),
        cmocka_unit_test(as_many_unknown_as_the_source),
        cmocka_unit_test(as_long_as_asked),
        cmocka_unit_test(a_forced_beginning),
        cmocka_unit_test(its_own_beginning_changes_nothing),
        cmocka_unit_test(alternatives_are_forced_searches),
        cmocka_unit_test(fewer_alternatives_than_asked_for),
        cmocka_unit_test(samples_belong_to_their_line),
        cmocka_unit_test(without_scores),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
