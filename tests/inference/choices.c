/* The constraints on the next token against their definitions, and searches with them. */
#include "inference/choices.h"
#include "tests/fixtures/translations.h"

/* ---- the scores of one row ---- */

/* Whether written already has the n-gram that c would complete. */
static bool repeats_ngram(const int *written, int count, int c, int n)
{
    for (int begin = 0; begin + n <= count; begin++) {
        bool same = written[begin + n - 1] == c;
        for (int i = 0; i < n - 1; i++)
            same &= written[begin + i] == written[count - n + 1 + i];
        if (same) return true;
    }
    return false;
}

TEST(against_the_definitions)
{
    enum { C = 6, ROUNDS = 3000 };
    Rng rng = rng_stream(1, RNG_TEST, 0);
    int forbidden = 0, ended = 0;
    static Predictor predictor;
    Transformer small = {.config = {.vocab = C + 1}};
    Ensemble ensemble = ensemble_of(&small);
    for (int round = 0; round < ROUNDS; round++) {
        int scratch[12], parent[13], token[13], *written = token + 1;
        int count = (int)rng_below(&rng, 12);
        for (int i = 0; i < count; i++) written[i] = 2 + (int)rng_below(&rng, C - 2);
        for (int i = 0; i <= count; i++) parent[i] = i - 1;
        SearchConfig config = {.no_repeat_ngram = (int)rng_below(&rng, 4),
                               .min_length = (int)rng_below(&rng, 14),
                               .unknown = rng_below(&rng, 2)};
        real before[C], z[C];
        for (int c = 0; c < C; c++) before[c] = z[c] = (real)rng_normal(&rng);
        const SearchBatch batch = {.ensemble = &ensemble, .config = &config};
        predictor = (Predictor){.batch = &batch, .written = scratch, .rows = 1};
        predictor.cache[0] =
            (Cache){.step = count + 1, .nodes = count + 1, .parent = parent, .token = token};
        choices_forbid(&(Scores){z, C, NULL}, &predictor, 0, &(SearchTask){0});
        bool all = true;
        for (int c = 1; c < C; c++) {
            bool never = (c == ID_UNKNOWN && !config.unknown) ||
                         (config.no_repeat_ngram &&
                          repeats_ngram(written, count, c, config.no_repeat_ngram));
            assert_true(z[c] == (never ? -INFINITY : before[c]));
            forbidden += never;
            all &= never;
        }
        if (count < config.min_length && !all) assert_true(z[ID_END] == -INFINITY);
        else assert_true(z[ID_END] == before[ID_END]);
        ended += count < config.min_length && all;
    }
    print_message("%d forbidden, %d ended\n", forbidden, ended);
    assert_true(forbidden > ROUNDS && ended > 20);
}

/* ---- searches ---- */

static int count_unknown(const int *id, int length)
{
    int count = 0;
    for (int t = 0; t < length; t++) count += id[t] == ID_UNKNOWN;
    return count;
}

/* Without an option no <unk>; with copy_unknown as many as the source has; with unknown any
 * number. */
TEST(number_of_unknown)
{
    enum { NONE, COPY, ANY };
    real bias = model.weights.logits_bias[ID_UNKNOWN];
    model.weights.logits_bias[ID_UNKNOWN] += 6;
    for (int beam = 1; beam <= 3; beam += 2) {
        int total[3] = {0};
        for (int allowed = NONE; allowed <= ANY; allowed++) {
            SearchConfig config = search_default;
            Translations out;
            config.beam = beam;
            config.copy_unknown = allowed == COPY;
            config.unknown = allowed == ANY;
            run(&out, &config, NULL);
            for (int s = 0; s < S; s++) {
                const Hypothesis *best = out.sentence[s].hypothesis;
                int written = count_unknown(best->id, best->length);
                int read =
                    count_unknown(source.id + source.start[s], packed_length(&source, s));
                if (allowed != ANY) assert_in_range(written, 0, allowed == COPY ? read : 0);
                total[allowed] += written;
            }
            translations_free(&out);
        }
        assert_true(total[COPY] > 0 && total[ANY] > total[COPY]);
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

TEST(no_ngram_comes_twice)
{
    for (int which = 0; which < SETTINGS; which++)
        for (int n = 1; n <= 3; n++) {
            SearchConfig config = settings(which);
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

/* A model may rule out </s> and all tokens but one, which then comes once. */
TEST(what_cannot_go_on_ends)
{
    real kept[V];
    Translations out;
    SearchConfig config = settings(BEAM);
    config.no_repeat_ngram = 1;
    memcpy(kept, model.weights.logits_bias, sizeof kept);
    for (int c = 0; c < V; c++)
        if (c != 3) model.weights.logits_bias[c] = -INFINITY;
    run(&out, &config, NULL);
    memcpy(model.weights.logits_bias, kept, sizeof kept);
    for (int s = 0; s < S; s++) assert_in_range(out.sentence[s].count, 1, 3);
    translations_free(&out);
}

TEST(as_long_as_asked)
{
    for (int which = 0; which < SETTINGS; which++) {
        SearchConfig config = settings(which);
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

/* Samples depend on the number of the line, and not on the other lines of the call. */
TEST(samples_depend_on_their_line)
{
    SearchConfig config = search_default;
    config.sample = true;
    config.n_best = 3;
    Translations all, some;
    run(&all, &config, NULL);
    config.batch_rows = 5;
    int different = 0;
    for (int s = 0; s + 2 <= S; s += 3) {
        int start[3];
        TranslatorInput input = {.source = packed_slice(start, &source, s, s + 2),
                                 .line = 1 + (uint64_t)s};
        assert_true(translator_run(&some, &alone, &input, &config, workers[2], NULL, &error));
        for (int i = 0; i < 6; i++) {
            const Hypothesis *a = &all.sentence[s + i / 3].hypothesis[i % 3];
            assert_true(same_ids(a, &some.sentence[i / 3].hypothesis[i % 3]));
            different += i % 3 && !same_ids(a, &a[-1]);
        }
        translations_free(&some);
    }
    assert_true(different > S / 3);  // samples of a line differ from each other
    translations_free(&all);
}

TEST(without_scores_the_same_tokens)
{
    for (int which = 0; which < SETTINGS; which++) {
        Translations with, without;
        SearchConfig config = settings(which);
        run(&with, &config, NULL);
        config.no_scores = true;
        run(&without, &config, NULL);
        for (int s = 0; s < S; s++)
            assert_true(same_ids(with.sentence[s].hypothesis, without.sentence[s].hypothesis));
        translations_free(&with);
        translations_free(&without);
    }
}

/* ---- prefix constraints ---- */

TEST(translations_begin_with_the_prefix)
{
    int id[3 * S], start[S + 1];
    for (int s = 0; s <= S; s++) start[s] = 3 * s;
    Rng rng = rng_stream(5, RNG_TEST, 0);
    for (int i = 0; i < 3 * S; i++) id[i] = 1 + (int)rng_below(&rng, V - 2);
    Packed own = {S, 3 * S, id, start}, one = {1, 2, id, (int[]){0, 2}};
    for (int which = 0; which < SETTINGS; which++) {
        SearchConfig config = settings(which);
        Translations out;
        run(&out, &config, &own);
        for (int s = 0; s < S; s++)
            for (int i = 0; i < out.sentence[s].count; i++) {
                assert_true(out.sentence[s].hypothesis[i].length >= 4);
                assert_memory_equal(out.sentence[s].hypothesis[i].id, id + 3 * s,
                                    3 * sizeof *id);
            }
        if (which != SAMPLES) check_scores(&out, &alone, &source, &config, workers[2]);
        translations_free(&out);
        run(&out, &config, &one);
        for (int s = 0; s < S; s++)
            assert_memory_equal(out.sentence[s].hypothesis->id, id, 2 * sizeof *id);
        translations_free(&out);
    }
}

/* Forcing the first half of a translation gives the same translation. */
TEST(its_own_prefix_changes_nothing)
{
    SearchConfig config = settings(GREEDY);
    Translations free_run, forced;
    run(&free_run, &config, NULL);
    int id[MOST_LENGTH * S], start[S + 1] = {0}, ended = 0;
    for (int s = 0; s < S; s++) {
        const Hypothesis *best = free_run.sentence[s].hypothesis;
        start[s + 1] = start[s] + best->length / 2;
        memcpy(id + start[s], best->id, (size_t)(best->length / 2) * sizeof *id);
    }
    Packed prefix = {S, start[S], id, start};
    run(&forced, &config, &prefix);
    for (int s = 0; s < S; s++) {
        const Hypothesis *a = free_run.sentence[s].hypothesis,
                         *b = forced.sentence[s].hypothesis;
        if (a->length == search_limit(&config, &model.config, packed_length(&source, s), 0))
            continue;  // with a prefix the limit is higher
        assert_true(same_ids(a, b));
        assert_true(fabs(a->log_probability - b->log_probability) < 1e-3);
        ended++;
    }
    assert_in_range(ended, 10, S);
    translations_free(&free_run);
    translations_free(&forced);
}

TEST(a_prefix_with_an_end_is_the_translation)
{
    int id[] = {7, 3, ID_END};
    Packed whole = {1, 3, id, (int[]){0, 3}};
    for (int which = 0; which < SETTINGS; which++) {
        SearchConfig config = settings(which);
        Translations out;
        run(&out, &config, &whole);
        for (int s = 0; s < S; s++) {
            assert_int_equal(out.sentence[s].hypothesis->length, 3);
            assert_memory_equal(out.sentence[s].hypothesis->id, id, sizeof id);
        }
        translations_free(&out);
    }
}

TEST(refusals)
{
    int id[MOST_LENGTH], unknown[] = {3, V - 1}, end[] = {ID_END, 3};
    for (int t = 0; t < MOST_LENGTH; t++) id[t] = 3;
    const struct {
        Packed prefix;
        const char *says;
    } wrong[] = {
        {{1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}},
         "beginning has 48 tokens, and a translation may have 48"},
        {{2, 2, id, (int[]){0, 1, 2}}, "40 sentences, but 2 forced beginnings"},
        {{1, 2, unknown, (int[]){0, 2}}, "token 2 of the forced beginning of sentence 1 is 59"},
        {{1, 2, end, (int[]){0, 2}}, "token 1 of the forced beginning of sentence 1 is 0"},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        refuse(&source, search_default, &wrong[w].prefix, wrong[w].says);
    SearchConfig config[2] = {search_default, search_default};
    config[0].n_best = config[0].beam + 1;
    config[1].min_length = 9, config[1].max_tokens = 9;
    refuse(&source, config[0], NULL, "`n-best`");
    refuse(&source, config[1], NULL, "`min-length` 9");
}

TEST_MAIN("choices", setup, teardown)
