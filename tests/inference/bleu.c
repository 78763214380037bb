/* BLEU, on cases small enough to count by hand, and against a count that compares every n-gram
 * with every other. */
#include "inference/bleu.h"
#include "tests/fixtures/letters.h"

#include "tests/fixtures/test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(Bleu *bleu, const char *hypothesis, const char *reference)
{
    Error error = {0};
    if (!bleu_add(bleu, hypothesis, reference, &error)) fail_msg("%s", error.text);
}

static void check_close(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9)) fail_msg("%.12f instead of %.12f", got, expected);
}

static Bleu bleu_of(const char *hypothesis, const char *reference)
{
    Bleu bleu = {.tokenization = TOKENIZATION_NONE};
    add(&bleu, hypothesis, reference);
    return bleu;
}

/* Papineni et al. 2002, section 2.1, example 2: the clipped precision of "the" is 2/7. No longer
 * n-gram is correct, so the totals 6, 5 and 4 are smoothed by 2, 4 and 8. */
TEST(test_clipping_and_smoothing)
{
    Bleu bleu = bleu_of("the the the the the the the", "the cat is on the mat");
    assert_int_equal(bleu.correct[0], 2);
    assert_int_equal(bleu.total[0], 7);
    BleuScore score = bleu_score(&bleu);
    check_close(score.precisions[0], 100 * 2.0 / 7);
    check_close(score.precisions[1], 100 / (2 * 6.0));
    check_close(score.precisions[2], 100 / (4 * 5.0));
    check_close(score.precisions[3], 100 / (8 * 4.0));
    check_close(score.brevity_penalty, 1);
    check_close(score.score, 100 * pow(2.0 / 7 / 12 / 20 / 32, 0.25));
}

TEST(test_identical)
{
    Bleu bleu = {.tokenization = TOKENIZATION_13A};
    add(&bleu, "Ein Hund läuft, 3.5 km weit.", "Ein Hund läuft, 3.5 km weit.");
    add(&bleu, "", "");
    add(&bleu, "日本", "日本");
    BleuScore score = bleu_score(&bleu);
    assert_true(score.score == 100);
    for (int n = 0; n < BLEU_ORDER; n++) assert_true(score.precisions[n] == 100);
    assert_true(score.brevity_penalty == 1);
    assert_int_equal(bleu.hypothesis_length, 9);  // Ein Hund läuft , 3.5 km weit . + 日本
}

/* Shorter: every n-gram is right, exp(1 - 6/4) remains. Longer: 4/5 · 3/4 · 2/3 · 1/2 = 1/5. */
TEST(test_length)
{
    Bleu shorter = bleu_of("a b c d", "a b c d e f");
    check_close(bleu_score(&shorter).brevity_penalty, exp(-0.5));
    check_close(bleu_score(&shorter).score, 60.653065971263);
    Bleu longer = bleu_of("a b c d e", "a b c d");
    check_close(bleu_score(&longer).brevity_penalty, 1);
    check_close(bleu_score(&longer).score, 66.874030497642);
}

/* Counts are summed, not scores: 7/8 · 4/6 · 2/4 · 1/2 = 7/48. */
TEST(test_corpus)
{
    Bleu bleu = {.tokenization = TOKENIZATION_NONE};
    add(&bleu, "a b c d", "a b c d");
    add(&bleu, "e x g h", "e f g h");
    static const int correct[] = {7, 4, 2, 1}, total[] = {8, 6, 4, 2};
    for (int n = 0; n < BLEU_ORDER; n++) {
        assert_int_equal(bleu.correct[n], correct[n]);
        assert_int_equal(bleu.total[n], total[n]);
    }
    check_close(bleu_score(&bleu).score, 100 * pow(7.0 / 48, 0.25));
}

/* A word of one sentence is not correct by the reference of another. */
TEST(test_sentences_are_apart)
{
    Bleu bleu = {.tokenization = TOKENIZATION_NONE};
    add(&bleu, "a a", "a");
    add(&bleu, "b", "a b");
    assert_int_equal(bleu.correct[0], 2);
    assert_int_equal(bleu.correct[1], 0);
    assert_int_equal(bleu.total[0], 3);
    assert_int_equal(bleu.total[1], 1);
}

TEST(test_nothing)
{
    Bleu bleu = {0};
    assert_true(bleu_score(&bleu).score == 0);  // no sentence at all

    bleu = bleu_of("a b c d e", "v w x y z");
    assert_true(bleu_score(&bleu).score == 0 && bleu_score(&bleu).precisions[0] == 0);

    bleu = bleu_of("", "a b c d e");
    assert_true(bleu_score(&bleu).score == 0 && bleu_score(&bleu).brevity_penalty == 0);

    bleu = bleu_of("a b c d e", "");
    assert_true(bleu_score(&bleu).score == 0 && bleu_score(&bleu).brevity_penalty == 1);
    assert_int_equal(bleu.total[3], 2);

    bleu = bleu_of("a b c", "a b c");  // no 4-gram in the whole corpus
    assert_true(bleu_score(&bleu).score == 0 && bleu_score(&bleu).precisions[2] == 100);
}

TEST(test_case)
{
    Bleu mixed = bleu_of("Der HUND läuft Über Straßen", "der Hund LÄUFT über Straßen");
    assert_int_equal(mixed.correct[0], 1);
    Bleu lower = {.tokenization = TOKENIZATION_NONE, .lowercase = true};
    add(&lower, "Der HUND läuft Über Straßen", "der Hund LÄUFT über Straßen");
    assert_true(bleu_score(&lower).score == 100);
}

/* The tokenization is the one asked for: 13a splits "1-2." into 1 - 2 . and intl nowhere,
 * as both marks have a number on one side and the end or a number on the other. */
TEST(test_tokenizations)
{
    static const int words[] = {[TOKENIZATION_13A] = 4,
                                [TOKENIZATION_NONE] = 1,
                                [TOKENIZATION_CHAR] = 4,
                                [TOKENIZATION_INTL] = 1};
    for (int t = 0; t < 4; t++) {
        Bleu bleu = {.tokenization = (Tokenization)t};
        add(&bleu, "1-2.", "1-2.");
        assert_int_equal(bleu.hypothesis_length, words[t]);
        assert_int_equal(bleu.reference_length, words[t]);
    }
}

TEST(test_errors_count_nothing)
{
    Error error;
    Bleu bleu = bleu_of("a b c d", "a b c d"), before = bleu;
    assert_false(bleu_add(&bleu, "a \xff", "a b", &error));
    assert_string_equal(error.text, "hypothesis: not valid UTF-8 at byte 3 of the sentence");
    assert_false(bleu_add(&bleu, "a b", "\x80", &error));
    assert_string_equal(error.text, "reference: not valid UTF-8 at byte 1 of the sentence");
    assert_memory_equal(&bleu, &before, sizeof bleu);
}

TEST(test_text)
{
    char text[256];
    Bleu bleu = {.tokenization = TOKENIZATION_13A};
    bleu_signature(&bleu, text, sizeof text);
    assert_string_equal(text, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:qkv-1.0");

    bleu.tokenization = TOKENIZATION_INTL;
    bleu.lowercase = true;
    add(&bleu, "a b c d", "a b c d e f");
    bleu_format(&bleu, text, sizeof text);
    assert_string_equal(text,
                        "BLEU|nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:qkv-1.0 = "
                        "60.65 100.0/100.0/100.0/100.0 (BP = 0.607 ratio = 0.667 hyp_len "
                        "= 4 ref_len = 6)");
    bleu = (Bleu){0};
    bleu_format(&bleu, text, sizeof text);
    assert_non_null(strstr(text, "ratio = 0.000"));
    bleu_signature(&bleu, text, 8);  // a short buffer is filled and ended
    assert_string_equal(text, "nrefs:1");
}

/* Words of one letter: the n-grams are the substrings. One is correct if it stood in the
 * hypothesis less often so far than it stands in the reference. */
TEST(test_against_plain_counting)
{
    Rng rng = rng_stream(1, RNG_TEST, 0);
    Bleu bleu = {.tokenization = TOKENIZATION_CHAR};
    long long correct[BLEU_ORDER] = {0}, total[BLEU_ORDER] = {0};
    for (int round = 0; round < 500; round++) {
        Letters l = random_letters(&rng);
        add(&bleu, l.text[0], l.text[1]);
        for (int n = 1; n <= BLEU_ORDER; n++) {
            for (int i = 0; i + n <= l.length[0]; i++) {
                total[n - 1]++;
                correct[n - 1] += occurrences(l.text[0] + i, l.text[0], i, n) <
                                  occurrences(l.text[0] + i, l.text[1], l.length[1] - n + 1, n);
            }
        }
    }
    assert_memory_equal(bleu.correct, correct, sizeof correct);
    assert_memory_equal(bleu.total, total, sizeof total);
    assert_true(correct[3] > 0 && correct[3] < total[3]);
}

/* The longest sentence that is read takes as long as its length says, not its square. */
TEST(test_long_sentence)
{
    char *text = malloc(CODEPOINTS_LIMIT + 1);
    assert_non_null(text);
    for (int i = 0; i < CODEPOINTS_LIMIT; i++) text[i] = i % 2 ? ' ' : 'a';
    text[CODEPOINTS_LIMIT] = '\0';
    Bleu bleu = bleu_of(text, text);
    assert_int_equal(bleu.hypothesis_length, CODEPOINTS_LIMIT / 2);
    assert_int_equal(bleu.correct[3], CODEPOINTS_LIMIT / 2 - 3);
    assert_true(bleu_score(&bleu).score == 100);
    free(text);
}

int main(void)
{
    return run_all_tests("bleu", NULL, NULL);
}
