/* chrF and chrF++, on cases small enough to count by hand, and against a count that compares
 * every n-gram with every other. Where P = R, the score is P. */
#include "inference/chrf.h"
#include "tests/fixtures/random-letters.h"

#include "tests/fixtures/test.h"
#include <math.h>
#include <string.h>

static void add(Chrf *chrf, const char *hypothesis, const char *reference)
{
    Error error = {0};
    if (!chrf_add(chrf, hypothesis, reference, &error)) fail_msg("%s", error.text);
}

static void check_score(int word_order, const char *hypothesis, const char *reference,
                        double expected)
{
    Chrf chrf = {.word_order = word_order};
    add(&chrf, hypothesis, reference);
    double got = chrf_score(&chrf);
    if (!(fabs(got - expected) <= 1e-9))
        fail_msg("'%s' against '%s': %.12f instead of %.12f", hypothesis, reference, got,
                 expected);
}

/* Word order, two texts, score. */
TEST(test_by_hand)
{
    // clang-format off
    static const struct {
        int word_order;
        const char *hypothesis, *reference;
        double score;
    } cases[] = {
        {0, "abc", "abd", 100 * (2.0 / 3 + 1.0 / 2 + 0) / 3},  // orders 4 to 6: none
        {0, "ab", "abcd", 100 * 25.0 / 53},   // P = 1, R = (1/2 + 1/3) / 2 = 5/12
        {0, "abcd", "ab", 100 * 25.0 / 32},   // the other way round: β favours recall
        {0, "aaaa", "a", 100 * 5.0 / 8},      // clipped: P = 1/4, R = 1
        {0, "é", "è", 0},                     // one byte in common, no character
        {0, "a b\u3000c\u00A0", "abc", 100},  // white space does not count
        {0, "Ab", "ab", 100 * (1.0 / 2 + 0) / 2},
        /* Characters of orders 1, 2 and words of order 1: (1 + 1 + 0) / 3. The reference has no
         * pair of words, so that of the hypothesis is not counted. */
        {2, "a b", "ab", 100 * 2.0 / 3},
        {1, "a b", "ab", 100 * 2.0 / 3},
        {2, "a b", "b a", 100 * (1 + 0 + 1 + 0) / 4.0},
        /* Same characters: the score is 100 only if the words are the same too. */
        {2, "Hi!", "Hi !", 100},
        {2, "(so", "( so", 100},
        {2, "(a)b c", "( a)b c", 100},
        {2, "! a", "! a", 100},               // one character stays one word
        {2, "a-b", "a-b", 100},
        {2, "so“", "so“", 100},
        {2, "", "", 0},
        {2, "", "abc", 0},
        {2, "abc", "", 0},
        {2, "abc", "xyz", 0},
        {2, "   ", "\t", 0},
    };
    // clang-format on
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        check_score(cases[c].word_order, cases[c].hypothesis, cases[c].reference,
                    cases[c].score);
    assert_true(chrf_score(&(Chrf){0}) == 0);
}

/* Words of the hypothesis and the reference, and how many are correct. */
TEST(test_punctuation)
{
    static const struct {
        const char *hypothesis, *reference;
        int counts[3];
    } cases[] = {
        {"so“ 東京。", "so “ 東京 。", {2, 4, 0}},  // ASCII punctuation only
        {"(so)", "( so )", {2, 3, 1}},   // "(so" and ")": the last one is split, not the first
        {"x...", "x . . .", {2, 4, 1}},  // "x.." and ".": only one is split
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Chrf chrf = {.word_order = 2};
        add(&chrf, cases[c].hypothesis, cases[c].reference);
        assert_int_equal(chrf.hypothesis[6], cases[c].counts[0]);
        assert_int_equal(chrf.reference[6], cases[c].counts[1]);
        assert_int_equal(chrf.correct[6], cases[c].counts[2]);
    }
    for (int c = '!'; c <= '~'; c++) {
        bool splits =
            !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
        Chrf one = {.word_order = 2};
        add(&one, (char[]){'a', (char)c, '\0'}, "a");
        assert_int_equal(one.hypothesis[6], splits ? 2 : 1);
    }
}

/* Corpora of several sentences. */
TEST(test_corpus)
{
    // clang-format off
    static const struct {
        Chrf settings;
        const char *sentence[3][2];
        double score;
    } cases[] = {
        /* Counts are summed, not scores: characters (2+0)/(2+1), pairs 1/1, as the second has
         * none. */
        {{0}, {{"ab", "ab"}, {"x", "y"}}, 100 * (2.0 / 3 + 1) / 2},
        {{.word_order = 2}, {{"abcdefgh", ""}, {"ab c", "ab c"}}, 100},  // empty reference
        {{.lowercase = true}, {{"ΣΑΣ", "σας"}, {"Über İ", "über i\u0307"}}, 100},
        {{.word_order = 0}, {{"Ein Hund.", "Ein Hund."}, {"", ""}, {"日本", "日本"}}, 100},
        {{.word_order = 1}, {{"Ein Hund.", "Ein Hund."}, {"", ""}, {"日本", "日本"}}, 100},
        {{.word_order = 2}, {{"Ein Hund.", "Ein Hund."}, {"", ""}, {"日本", "日本"}}, 100},
    };
    // clang-format on
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Chrf chrf = cases[c].settings;
        for (int i = 0; i < 3 && cases[c].sentence[i][0]; i++)
            add(&chrf, cases[c].sentence[i][0], cases[c].sentence[i][1]);
        assert_true(fabs(chrf_score(&chrf) - cases[c].score) <= 1e-9);
    }
}

TEST(test_errors_count_nothing)
{
    Error error;
    Chrf chrf = {.word_order = 2};
    add(&chrf, "a b c d", "a b c d");
    Chrf before = chrf;
    assert_false(chrf_add(&chrf, "a \xff", "a b", &error));
    assert_string_equal(error.text, "hypothesis: not valid UTF-8 at byte 3 of the sentence");
    assert_false(chrf_add(&chrf, "a b", "\x80", &error));
    assert_string_equal(error.text, "reference: not valid UTF-8 at byte 1 of the sentence");
    assert_memory_equal(&chrf, &before, sizeof chrf);
}

TEST(test_text)
{
    char text[256];
    Chrf chrf = {.lowercase = true};
    chrf_format(&chrf, text, sizeof text);
    assert_string_equal(
        text, "chrF2|nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:qkv-1.0 = 0.00");
    chrf = (Chrf){0};
    add(&chrf, "ab", "abcd");
    chrf_format(&chrf, text, sizeof text);
    assert_string_equal(
        text, "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:qkv-1.0 = 47.17");
    chrf = (Chrf){.word_order = 2};
    add(&chrf, "a b", "ab");
    chrf_format(&chrf, text, sizeof text);
    assert_string_equal(
        text, "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:qkv-1.0 = 66.67");
}

TEST(test_against_plain_counting)
{
    Rng rng = rng_stream(2, RNG_TEST, 0);
    Chrf chrf = {0}, plain = {0};
    for (int round = 0; round < 500; round++) {
        Letters l = random_letters(&rng);
        add(&chrf, l.text[0], l.text[1]);
        for (int n = 1; n <= CHRF_CHAR_ORDER; n++) {
            int starts = l.length[1] - n + 1;
            if (starts <= 0) continue;
            plain.reference[n - 1] += starts;
            for (int i = 0; i + n <= l.length[0]; i++) {
                plain.hypothesis[n - 1]++;
                plain.correct[n - 1] += occurrences(l.text[0] + i, l.text[0], i, n) <
                                        occurrences(l.text[0] + i, l.text[1], starts, n);
            }
        }
    }
    assert_memory_equal(&chrf, &plain, sizeof chrf);
    assert_true(chrf.correct[5] > 0 && chrf.correct[5] < chrf.hypothesis[5]);
}

int main(void)
{
    return run_all_tests("chrf", NULL, NULL);
}
