/* chrF and chrF++, on cases small enough to count by hand, and against a count that compares
 * every n-gram with every other. Where P = R, the score is P. */
#include "inference/chrf.h"
#include "tests/fixtures/letters.h"

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

TEST(test_characters)
{
    check_score(0, "abc", "abd", 100 * (2.0 / 3 + 1.0 / 2 + 0) / 3);  // orders 4 to 6: none
    check_score(0, "ab", "abcd", 100 * 25.0 / 53);   // P = 1, R = (1/2 + 1/3) / 2 = 5/12
    check_score(0, "abcd", "ab", 100 * 25.0 / 32);   // the other way round: β favours recall
    check_score(0, "aaaa", "a", 100 * 5.0 / 8);      // clipped: P = 1/4, R = 1
    check_score(0, "é", "è", 0);                     // one byte in common, no character
    check_score(0, "a b\u3000c\u00A0", "abc", 100);  // white space does not count
    check_score(0, "Ab", "ab", 100 * (1.0 / 2 + 0) / 2);
}

/* Characters of orders 1, 2 and words of order 1: (1 + 1 + 0) / 3. The reference has no pair of
 * words, so that the hypothesis's one does not count either. */
TEST(test_words)
{
    check_score(2, "a b", "ab", 100 * 2.0 / 3);
    check_score(1, "a b", "ab", 100 * 2.0 / 3);
    check_score(2, "a b", "b a", 100 * (1 + 0 + 1 + 0) / 4.0);
}

/* Same characters; the score is 100 only if the words are the same too. */
TEST(test_punctuation)
{
    check_score(2, "Hi!", "Hi !", 100);
    check_score(2, "(so", "( so", 100);
    check_score(2, "(a)b c", "( a)b c", 100);
    check_score(2, "! a", "! a", 100);  // one character stays one word
    check_score(2, "a-b", "a-b", 100);
    check_score(2, "so“", "so“", 100);
    for (int c = '!'; c <= '~'; c++) {
        bool splits =
            !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
        Chrf one = {.word_order = 2};
        add(&one, (char[]){'a', (char)c, '\0'}, "a");
        assert_int_equal(one.hypothesis[6], splits ? 2 : 1);
    }
    Chrf chrf = {.word_order = 2};
    add(&chrf, "so“ 東京。", "so “ 東京 。");  // ASCII punctuation only
    assert_int_equal(chrf.hypothesis[6], 2);
    assert_int_equal(chrf.reference[6], 4);
    assert_int_equal(chrf.correct[6], 0);
    chrf = (Chrf){.word_order = 2};
    add(&chrf, "(so)", "( so )");  // "(so" and ")": the last one is split, then not the first
    assert_int_equal(chrf.hypothesis[6], 2);
    assert_int_equal(chrf.correct[6], 1);
    chrf = (Chrf){.word_order = 2};
    add(&chrf, "x...", "x . . .");  // "x.." and ".": only one is split
    assert_int_equal(chrf.hypothesis[6], 2);
    assert_int_equal(chrf.correct[6], 1);
}

TEST(test_identical)
{
    for (int word_order = 0; word_order <= CHRF_WORD_ORDER; word_order++) {
        Chrf chrf = {.word_order = word_order};
        add(&chrf, "Ein Hund läuft, 3.5 km weit.", "Ein Hund läuft, 3.5 km weit.");
        add(&chrf, "", "");
        add(&chrf, "日本", "日本");
        assert_true(chrf_score(&chrf) == 100);
    }
}

TEST(test_nothing)
{
    Chrf chrf = {0};
    assert_true(chrf_score(&chrf) == 0);
    check_score(2, "", "", 0);
    check_score(2, "", "abc", 0);
    check_score(2, "abc", "", 0);
    check_score(2, "abc", "xyz", 0);
    check_score(2, "   ", "\t", 0);
}

/* Counts are summed, not scores: characters (2+0)/(2+1), pairs 1/1 as the second sentence has
 * none. And what stands against an empty reference does not count. */
TEST(test_corpus)
{
    Chrf chrf = {0};
    add(&chrf, "ab", "ab");
    add(&chrf, "x", "y");
    if (!(fabs(chrf_score(&chrf) - 100 * (2.0 / 3 + 1) / 2) <= 1e-9))
        fail_msg("%.12f", chrf_score(&chrf));
    Chrf empty = {.word_order = 2};
    add(&empty, "abcdefgh", "");
    add(&empty, "ab c", "ab c");
    assert_true(chrf_score(&empty) == 100);
}

TEST(test_case)
{
    Chrf chrf = {.lowercase = true};
    add(&chrf, "ΣΑΣ", "σας");
    add(&chrf, "Über İ", "über i\u0307");
    assert_true(chrf_score(&chrf) == 100);
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
