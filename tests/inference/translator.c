/* Many sentences: order, threads and batches, stopping, and what is refused. */
#include "tests/fixtures/translations.h"

/* In three batches or more, on one, two and three threads: the same bits. */
TEST(threads_change_nothing)
{
    for (int beam = 1; beam <= 4; beam += 3) {
        SearchConfig config = search_default;
        config.beam = config.n_best = beam;
        config.batch_rows = 12 * beam;
        Translations first, other;
        translate(&first, &source, &config, 1);
        assert_int_equal(first.sentences, S);
        assert_false(first.stopped);
        for (int threads = 2; threads <= THREADS; threads++) {
            translate(&other, &source, &config, threads);
            for (int i = 0; i < S * beam; i++) {
                const Hypothesis *a = &first.sentence[i / beam].hypothesis[i % beam];
                const Hypothesis *b = &other.sentence[i / beam].hypothesis[i % beam];
                assert_int_equal(first.sentence[i / beam].count, beam);
                assert_int_equal(other.sentence[i / beam].count, beam);
                assert_true(same_ids(a, b));
                assert_true(a->score == b->score && a->log_probability == b->log_probability);
            }
            translations_free(&other);
        }
        translations_free(&first);
    }
}

TEST(scores_equal_scoring)
{
    for (int which = 0; which < SETTINGS; which++) {
        SearchConfig config = settings(which);
        config.length_penalty = 0.7;
        Translations all;
        translate(&all, &source, &config, 1);
        check_scores(&all, &alone, &source, &config, workers[1]);
        translations_free(&all);
    }
}

TEST(stopping)
{
    TranslatorInput input = {.source = source};
    for (int stopped = 0; stopped < 2; stopped++) {
        volatile sig_atomic_t stop = stopped;
        Translations out;
        assert_true(
            translator_run(&out, &alone, &input, &search_default, workers[2], &stop, &error));
        assert_int_equal(out.stopped, stopped);
        for (int s = 0; s < S; s++) assert_int_equal(out.sentence[s].count, !stopped);
        translations_free(&out);
    }
}

TEST(longest_and_none)
{
    int id[MOST_LENGTH] = {0};
    for (int t = 0; t < MOST_LENGTH - 1; t++) id[t] = 2 + t;
    Packed longest = {1, MOST_LENGTH, id, (int[]){0, MOST_LENGTH}};
    Packed none = {0, 0, id, (int[]){0}};
    Translations out;
    translate(&out, &longest, &search_default, 1);
    assert_int_equal(out.sentence[0].count, 1);
    assert_in_range(out.sentence[0].hypothesis->length, 1, MOST_LENGTH);
    translations_free(&out);
    translate(&out, &none, &search_default, 2);
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
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        int id[MOST_LENGTH + 2] = {0}, n = wrong[w].length;
        memcpy(id + 1, wrong[w].id, (size_t)n * sizeof *id);
        Packed two = {2, n + 1, id, (int[]){0, 1, n + 1}};
        refuse(&two, search_default, NULL, wrong[w].says);
    }
    SearchConfig config = search_default;
    config.n_best = 5;
    refuse(&source, config, NULL, "`n-best` 5 is more than `beam` 4, the number of hypotheses");
}

TEST_MAIN("translator", setup, teardown)
