/* Prefix constraints, and the alternatives for the next token. */
#include "tests/fixtures/translations.h"

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

/* Alternative i against a search whose prefix is the alternative's first token. */
static int compare_alternatives(const Translations *out, int i, bool with_prefix, int beam)
{
    int id[2 * S], start[S + 1] = {0}, compared = 0;
    for (int s = 0; s < S; s++) {
        int *to = id + start[s], first = out->sentence[s].hypothesis[i].id[with_prefix];
        if (with_prefix) *to++ = 7;
        if (first != ID_END) *to++ = first;
        start[s + 1] = (int)(to - id);
    }
    Packed prefix = {S, start[S], id, start};
    SearchConfig config = search_default;
    config.beam = beam;
    Translations forced;
    run(&forced, &config, &prefix);
    for (int s = 0; s < S; s++) {
        const Hypothesis *a = &out->sentence[s].hypothesis[i];
        const Hypothesis *b = forced.sentence[s].hypothesis;
        for (int j = 1; j <= i; j++) assert_true(a->id[with_prefix] != a[-j].id[with_prefix]);
        if (i) assert_true(a->score <= a[-1].score);
        int most = search_limit(&config, &model.config, packed_length(&source, s), with_prefix);
        if (a->id[with_prefix] == ID_END || a->length >= most || b->length >= most)
            continue;  // with the longer prefix the limit is higher
        compared++;
        assert_true(same_ids(a, b));
    }
    translations_free(&forced);
    return compared;
}

TEST(alternatives_equal_constrained_searches)
{
    enum { N = 5 };
    int compared = 0;
    Packed prefix = {1, 1, (int[]){7}, (int[]){0, 1}};
    for (int test = 0; test < 4; test++) {
        SearchConfig config = search_default;
        Translations out;
        config.beam = test < 2 ? 1 : 3;
        config.alternatives = N;
        run(&out, &config, test % 2 ? &prefix : NULL);
        for (int s = 0; s < S; s++) assert_int_equal(out.sentence[s].count, N);
        for (int i = 0; i < N; i++)
            compared += compare_alternatives(&out, i, test % 2, config.beam);
        translations_free(&out);
    }
    assert_true(compared > 100);
}

TEST(fewer_tokens_than_alternatives)
{
    Transformer small = random_model(6, 8, 3);
    Ensemble one = ensemble_of(&small);
    TranslatorInput input = {.source = {1, 2, (int[]){2, 0}, (int[]){0, 2}}};
    SearchConfig config = search_default;
    Translations out;
    config.alternatives = 60;
    assert_true(translator_run(&out, &one, &input, &config, workers[2], NULL, &error));
    assert_int_equal(out.sentence[0].count, 4);  // </s> and three pieces
    translations_free(&out);
    transformer_free(&small);
}

TEST(refused_prefixes)
{
    int id[MOST_LENGTH], unknown[] = {3, V - 1}, end[] = {3, ID_END};
    for (int t = 0; t < MOST_LENGTH; t++) id[t] = 3;
    const struct {
        Packed prefix;
        const char *says;
    } wrong[] = {
        {{1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}},
         "beginning has 48 tokens, and a translation may have 48"},
        {{2, 2, id, (int[]){0, 1, 2}}, "40 sentences, but 2 forced beginnings"},
        {{1, 2, unknown, (int[]){0, 2}}, "token 2 of the forced beginning of sentence 1 is 59"},
        {{1, 2, end, (int[]){0, 2}}, "token 2 of the forced beginning of sentence 1 is 0"},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        refuse(&source, search_default, &wrong[w].prefix, wrong[w].says);
}

TEST_MAIN("prefix", setup, teardown)
