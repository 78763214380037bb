/* BLEU, on cases small enough to count by hand, and against a count that compares every n-gram
 * with every other. */
#include "inference/bleu.h"
#include "tests/fixtures/random-letters.h"

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

/* Corpora of one or two sentences, counted by hand. In the first, the clipped precision of
 * "the" is 2/7 (Papineni et al. 2002, section 2.1, example 2); no longer n-gram is correct, so
 * 1/6, 1/5 and 1/4 are smoothed by 2, 4 and 8. */
TEST(test_by_hand)
{
    // clang-format off
    const struct {
        const char *sentence[2][2];  // {hypothesis, reference}
        int correct[BLEU_ORDER], total[BLEU_ORDER];
        double precisions[BLEU_ORDER], brevity_penalty, score;
    } cases[] = {
        {{{"the the the the the the the", "the cat is on the mat"}}, {2, 0, 0, 0}, {7, 6, 5, 4},
         {200.0 / 7, 100.0 / 12, 5, 100.0 / 32}, 1, 100 * pow(2.0 / 7 / 12 / 20 / 32, 0.25)},
        {{{"a b c d", "a b c d e f"}}, {4, 3, 2, 1}, {4, 3, 2, 1},      // shorter
         {100, 100, 100, 100}, exp(-0.5), 60.653065971263},
        {{{"a b c d e", "a b c d"}}, {4, 3, 2, 1}, {5, 4, 3, 2},        // longer
         {80, 75, 200.0 / 3, 50}, 1, 66.874030497642},
        {{{"a b c d", "a b c d"}, {"e x g h", "e f g h"}}, {7, 4, 2, 1}, {8, 6, 4, 2},
         {87.5, 200.0 / 3, 50, 50}, 1, 100 * pow(7.0 / 48, 0.25)},      // counts are summed
        {{{"a a", "a"}, {"b", "a b"}}, {2, 0, 0, 0}, {3, 1, 0, 0},  // each its own reference
         {200.0 / 3, 50, 0, 0}, 1, 0},
        {{{"a b c d e", "v w x y z"}}, {0}, {5, 4, 3, 2}, {0}, 1, 0},
        {{{"", "a b c d e"}}, {0}, {0}, {0}, 0, 0},
        {{{"a b c d e", ""}}, {0}, {5, 4, 3, 2}, {0}, 1, 0},
        {{{"a b c", "a b c"}}, {3, 2, 1, 0}, {3, 2, 1, 0},              // no 4-gram
         {100, 100, 100, 0}, 1, 0},
    };
    // clang-format on
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Bleu bleu = {.tokenization = TOKENIZATION_NONE};
        for (int i = 0; i < 2 && cases[c].sentence[i][0]; i++)
            add(&bleu, cases[c].sentence[i][0], cases[c].sentence[i][1]);
        BleuScore score = bleu_score(&bleu);
        for (int n = 0; n < BLEU_ORDER; n++) {
            assert_int_equal(bleu.correct[n], cases[c].correct[n]);
            assert_int_equal(bleu.total[n], cases[c].total[n]);
            check_close(score.precisions[n], cases[c].precisions[n]);
        }
        check_close(score.brevity_penalty, cases[c].brevity_penalty);
        check_close(score.score, cases[c].score);
    }
    assert_true(bleu_score(&(Bleu){0}).score == 0);  // no sentence at all
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
