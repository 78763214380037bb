/* BLEU, chrF and TER: on cases small enough to count by hand, against a count that compares every
 * n-gram with every other, and of whole files against the figures in a table.
 *
 * tests/fixtures/score-vectors holds one worked out by hand. The environment variable
 * QKV_SCORE_VECTORS can name a folder with another, such as the output of another scorer:
 * expected.json, and in it, by "cases", the files "hypothesis" and "reference", "bleu_13a",
 * "bleu_13a_lc", "bleu_none", … (each with "score", "precisions", "bp", "sys_len", "ref_len"),
 * "chrf2", "chrf2pp" and "chrf2_lc". Scores are rounded to 4 decimals, the brevity penalty to
 * 6. */
#include "base/json.h"
#include "base/rng.h"
#include "scores/significance.h"
#include "scores/statistics.h"
#include "tests/fixtures/test.h"

static void add_bleu(Bleu *bleu, const char *hypothesis, const char *reference)
{
    Error error = {0};
    if (!bleu_add(bleu, hypothesis, (const char *[]){reference}, 1, &error))
        fail_msg("%s", error.text);
}

static void add_chrf(Chrf *chrf, const char *hypothesis, const char *reference)
{
    Error error = {0};
    if (!chrf_add(chrf, hypothesis, (const char *[]){reference}, 1, &error))
        fail_msg("%s", error.text);
}

static void check_close(const char *what, double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s: %.12f instead of %.12f", what, got, expected);
}

/* Corpora of one or two sentences, counted by hand. In the first, the clipped precision of
 * "the" is 2/7 (Papineni et al. 2002, section 2.1, example 2); no longer n-gram is correct, so
 * 1/6, 1/5 and 1/4 are smoothed by 2, 4 and 8. */
TEST(bleu_by_hand)
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
            add_bleu(&bleu, cases[c].sentence[i][0], cases[c].sentence[i][1]);
        BleuScore score = bleu_score(&bleu);
        for (int n = 0; n < BLEU_ORDER; n++) {
            assert_int_equal(bleu.correct[n], cases[c].correct[n]);
            assert_int_equal(bleu.total[n], cases[c].total[n]);
            check_close("p_n", score.precisions[n], cases[c].precisions[n], 1e-9);
        }
        check_close("bp", score.brevity_penalty, cases[c].brevity_penalty, 1e-9);
        check_close("BLEU", score.score, cases[c].score, 1e-9);
    }
    assert_true(bleu_score(&(Bleu){0}).score == 0);  // no sentence at all
}

TEST(letter_case)
{
    for (int lowercase = 0; lowercase < 2; lowercase++) {
        Bleu bleu = {.tokenization = TOKENIZATION_NONE, .lowercase = lowercase};
        add_bleu(&bleu, "Der HUND läuft Über Straßen", "der Hund LÄUFT über Straßen");
        assert_int_equal(bleu.correct[0], lowercase ? 5 : 1);
    }
}

/* The tokenization is the one asked for: 13a splits "1-2." into 1 - 2 . and intl nowhere,
 * as both marks have a number on one side and the end or a number on the other. zh is 13a without
 * spaces at the ends, so that the last period stays. */
TEST(tokenizations)
{
    static const int words[] = {[TOKENIZATION_13A] = 4,
                                [TOKENIZATION_NONE] = 1,
                                [TOKENIZATION_CHAR] = 4,
                                [TOKENIZATION_INTL] = 1,
                                [TOKENIZATION_ZH] = 3};
    for (int t = 0; t < 5; t++) {
        Bleu bleu = {.tokenization = (Tokenization)t};
        add_bleu(&bleu, "1-2.", "1-2.");
        assert_int_equal(bleu.hypothesis_length, words[t]);
        assert_int_equal(bleu.reference_length, words[t]);
    }
}

/* Chinese characters and marks are words, and so is the curly quote, U+201C; Latin is not. */
TEST(chinese_words)
{
    Bleu bleu = {.tokenization = TOKENIZATION_ZH};
    add_bleu(&bleu, "我在“PyTorch 2.0”上，试 ok.", "我 ok .");
    assert_int_equal(bleu.hypothesis_length, 11);
    assert_int_equal(bleu.reference_length, 3);
    assert_int_equal(bleu.correct[0], 3);
}

/* A word of each reference counts, clipped by the most that one reference has: "a" twice, "b" and
 * "c". The reference of 4 words is as near to 5 as that of 6: the shorter one counts. */
TEST(several_references)
{
    Error error;
    char text[256];
    const char *const reference[] = {"a b b x x x", "a a c x"};
    Bleu bleu = {.tokenization = TOKENIZATION_NONE};
    assert_true(bleu_add(&bleu, "a a a b c", reference, 2, &error));
    assert_int_equal(bleu.correct[0], 4);
    assert_int_equal(bleu.correct[1], 2);  // "a a", "a b"
    assert_int_equal(bleu.reference_length, 4);
    bleu_signature(&bleu, text, sizeof text);
    assert_ptr_equal(strstr(text, "nrefs:2|"), text);
    add_bleu(&bleu, "a", "a");
    bleu_signature(&bleu, text, sizeof text);
    assert_ptr_equal(strstr(text, "nrefs:var|"), text);

    /* chrF counts the best reference alone. */
    Chrf chrf = {0}, best = {.references = 2};
    const char *const texts[] = {"xyz", "abc", "abd"};
    assert_true(chrf_add(&chrf, "abc", texts, 2, &error));
    best.correct[0] = best.hypothesis[0] = best.reference[0] = 3;
    best.correct[1] = best.hypothesis[1] = best.reference[1] = 2;
    best.correct[2] = best.hypothesis[2] = best.reference[2] = 1;
    assert_memory_equal(&chrf, &best, sizeof chrf);

    Ter ter = {0};
    assert_true(ter_add(&ter, "a b c", (const char *[]){"a x y z", "A b"}, 2, &error));
    assert_int_equal(ter.edits, 1);
    assert_true(ter.reference_length == 3);
}

TEST(ter_by_hand)
{
    static const struct {
        const char *hypothesis, *reference;
        int edits;
    } cases[] = {
        {"a b c d", "a b c d", 0},
        {"a B c", "A b C", 0},              // case is ignored
        {"a b c d", "c d a b", 1},          // one shift
        {"a b c d e f", "d e f a b c", 1},  // of three words
        {"a b c", "a x c", 1},
        {"a b", "a b c d", 2},
        {"", "a b", 2},
        {"a b c", "", 3},
        {"", "", 0},
        {"THIS WEEK THE SAUDIS denied information published in the new york times",
         "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times",
         4},  // the example of Snover et al. 2006: a shift, two substitutions and an insertion
        {"d c b a", "a b c d", 3},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Error error;
        Ter ter = {0};
        assert_true(ter_add(&ter, cases[c].hypothesis, &cases[c].reference, 1, &error));
        if (ter.edits != cases[c].edits)
            fail_msg("%s: %lld edits", cases[c].hypothesis, ter.edits);
    }
    char text[256];
    Error error;
    Ter ter = {0};
    assert_true(ter_score(&ter) == 0);
    assert_true(ter_add(&ter, "a", (const char *[]){""}, 1, &error));
    assert_true(ter_score(&ter) == 100);
    assert_true(ter_add(&ter, "a b c", (const char *[]){"a c"}, 1, &error));
    ter_format(&ter, text, sizeof text);
    assert_string_equal(
        text,
        "TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:qkv-1.0 = 100.00");
}

/* Two systems and what sacrebleu 2.6 says of them: --paired-bs, --paired-ar. */
TEST(significance)
{
    enum { LINES = 12 };
    Error error;
    Estimate estimate[SCORES];
    Statistics system[2][LINES], none = statistics_none(&(Bleu){0});
    for (int i = 0; i < LINES; i++) {
        char reference[64], text[64];
        snprintf(reference, sizeof reference, "w%d x%d a b c d e", i, i * i);
        for (int s = 0; s < 2; s++) {
            snprintf(text, sizeof text, "w%d %s a b %s d e", i, i % 3 == s ? "y" : "x0",
                     i % (4 + s) == 1 ? "q" : "c");
            system[s][i] = none;
            assert_true(
                statistics_add(&system[s][i], text, (const char *[]){reference}, 1, &error));
        }
    }
    assert_true(significance_estimate(estimate, SIGNIFICANCE_BOOTSTRAP, system[1], system[0],
                                      LINES, 1000, &error));
    check_close("mean", estimate[0].mean, 56.54083548064178, 1e-9);
    check_close("interval", estimate[0].interval, 12.552404190791169, 1e-9);
    check_close("p of BLEU", estimate[0].p, 259 / 1001.0, 1e-9);
    check_close("p of chrF2", estimate[1].p, 229 / 1001.0, 1e-9);
    check_close("p of TER", estimate[3].p, 302 / 1001.0, 1e-9);
    assert_true(significance_estimate(estimate, SIGNIFICANCE_RANDOMIZATION, system[1],
                                      system[0], LINES, 10000, &error));
    assert_true(isnan(estimate[0].mean));
    check_close("p of BLEU", estimate[0].p, 6220 / 10001.0, 1e-9);
    check_close("p of chrF2", estimate[1].p, 6722 / 10001.0, 1e-9);
    check_close("p of TER", estimate[3].p, 3693 / 10001.0, 1e-9);
}

/* Where P = R, the score is P. Corpora of one to three sentences. */
TEST(chrf_by_hand)
{
    // clang-format off
    static const struct {
        Chrf settings;
        const char *sentence[3][2];  // {hypothesis, reference}
        double score;
    } cases[] = {
        {{0}, {{"abc", "abd"}}, 100 * (2.0 / 3 + 1.0 / 2 + 0) / 3},  // orders 4 to 6: none
        {{0}, {{"ab", "abcd"}}, 100 * 25.0 / 53},   // P = 1, R = (1/2 + 1/3) / 2 = 5/12
        {{0}, {{"abcd", "ab"}}, 100 * 25.0 / 32},   // the other way round: β favours recall
        {{0}, {{"aaaa", "a"}}, 100 * 5.0 / 8},      // clipped: P = 1/4, R = 1
        {{0}, {{"é", "è"}}, 0},                     // one byte in common, no character
        {{0}, {{"a b\u3000c\u00A0", "abc"}}, 100},  // white space does not count
        {{0}, {{"Ab", "ab"}}, 100 * (1.0 / 2 + 0) / 2},
        /* Characters of orders 1, 2 and words of order 1: (1 + 1 + 0) / 3. The reference has no
         * pair of words, so that of the hypothesis is not counted. */
        {{.word_order = 2}, {{"a b", "ab"}}, 100 * 2.0 / 3},
        {{.word_order = 1}, {{"a b", "ab"}}, 100 * 2.0 / 3},
        {{.word_order = 2}, {{"a b", "b a"}}, 100 * (1 + 0 + 1 + 0) / 4.0},
        /* Same characters: the score is 100 only if the words are the same too. */
        {{.word_order = 2}, {{"Hi!", "Hi !"}}, 100},
        {{.word_order = 2}, {{"(so", "( so"}}, 100},
        {{.word_order = 2}, {{"(a)b c", "( a)b c"}}, 100},
        {{.word_order = 2}, {{"! a", "! a"}}, 100},               // one character stays one word
        {{.word_order = 2}, {{"", ""}}, 0},
        {{.word_order = 2}, {{"", "abc"}}, 0},
        {{.word_order = 2}, {{"abc", ""}}, 0},
        /* Counts are summed, not scores: characters (2+0)/(2+1), pairs 1/1, as the second has
         * none. */
        {{0}, {{"ab", "ab"}, {"x", "y"}}, 100 * (2.0 / 3 + 1) / 2},
        {{.word_order = 2}, {{"abcdefgh", ""}, {"ab c", "ab c"}}, 100},  // empty reference
        {{.lowercase = true}, {{"ΣΑΣ", "σας"}, {"Über İ", "über i\u0307"}}, 100},
        {{0}, {{"Ein Hund.", "Ein Hund."}, {"", ""}, {"日本", "日本"}}, 100},
        {{.word_order = 2}, {{"Ein Hund.", "Ein Hund."}, {"", ""}, {"日本", "日本"}}, 100},
    };
    // clang-format on
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Chrf chrf = cases[c].settings;
        for (int i = 0; i < 3 && cases[c].sentence[i][0]; i++)
            add_chrf(&chrf, cases[c].sentence[i][0], cases[c].sentence[i][1]);
        check_close(cases[c].sentence[0][0], chrf_score(&chrf), cases[c].score, 1e-9);
    }
    assert_true(chrf_score(&(Chrf){0}) == 0);
}

/* Words of the hypothesis and the reference, and how many are correct. */
TEST(punctuation)
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
        add_chrf(&chrf, cases[c].hypothesis, cases[c].reference);
        assert_int_equal(chrf.hypothesis[6], cases[c].counts[0]);
        assert_int_equal(chrf.reference[6], cases[c].counts[1]);
        assert_int_equal(chrf.correct[6], cases[c].counts[2]);
    }
    for (int c = '!'; c <= '~'; c++) {
        bool splits =
            !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
        Chrf one = {.word_order = 2};
        add_chrf(&one, (char[]){'a', (char)c, '\0'}, "a");
        assert_int_equal(one.hypothesis[6], splits ? 2 : 1);
    }
}

TEST(errors_count_nothing)
{
    static const char *const wrong[][3] = {
        {"a \xff", "a b", "hypothesis: not valid UTF-8 at byte 3 of the sentence"},
        {"a b", "\x80", "reference: not valid UTF-8 at byte 1 of the sentence"}};
    Error error;
    Bleu bleu = {.tokenization = TOKENIZATION_NONE}, bleu_before;
    Chrf chrf = {.word_order = 2}, chrf_before;
    add_bleu(&bleu, "a b c d", "a b c d");
    add_chrf(&chrf, "a b c d", "a b c d");
    bleu_before = bleu, chrf_before = chrf;
    for (int w = 0; w < 2; w++) {
        assert_false(bleu_add(&bleu, wrong[w][0], &wrong[w][1], 1, &error));
        assert_string_equal(error.text, wrong[w][2]);
        assert_false(chrf_add(&chrf, wrong[w][0], &wrong[w][1], 1, &error));
        assert_string_equal(error.text, wrong[w][2]);
    }
    assert_memory_equal(&bleu, &bleu_before, sizeof bleu);
    assert_memory_equal(&chrf, &chrf_before, sizeof chrf);
}

TEST(text_of_bleu)
{
    char text[256];
    Bleu bleu = {.tokenization = TOKENIZATION_13A};
    bleu_signature(&bleu, text, sizeof text);
    assert_string_equal(text, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:qkv-1.0");

    bleu.tokenization = TOKENIZATION_INTL;
    bleu.lowercase = true;
    add_bleu(&bleu, "a b c d", "a b c d e f");
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

TEST(text_of_chrf)
{
    char text[256];
    Chrf chrf = {.lowercase = true};
    chrf_format(&chrf, text, sizeof text);
    assert_string_equal(
        text, "chrF2|nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:qkv-1.0 = 0.00");
    chrf = (Chrf){0};
    add_chrf(&chrf, "ab", "abcd");
    chrf_format(&chrf, text, sizeof text);
    assert_string_equal(
        text, "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:qkv-1.0 = 47.17");
    chrf = (Chrf){.word_order = 2};
    add_chrf(&chrf, "a b", "ab");
    chrf_format(&chrf, text, sizeof text);
    assert_string_equal(
        text, "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:qkv-1.0 = 66.67");
}

/* How often the n letters of gram occur in text, counting the first `starts` places. */
static int occurrences(const char *gram, const char *text, int starts, int n)
{
    int count = 0;
    for (int i = 0; i < starts; i++) count += memcmp(gram, text + i, (size_t)n) == 0;
    return count;
}

/* Random texts of up to 59 letters, of an alphabet of one to four. For BLEU each letter is a
 * word. An n-gram is correct if it stood in the hypothesis less often so far than it stands in
 * the reference. */
TEST(against_plain_counting)
{
    Rng rng = rng_stream(1, RNG_TEST, 0);
    Bleu bleu = {.tokenization = TOKENIZATION_CHAR};
    Chrf chrf = {0}, plain = {.references = 1};
    long long total[CHRF_CHAR_ORDER] = {0};
    for (int round = 0; round < 500; round++) {
        char text[2][64] = {{0}};
        int length[2];
        uint32_t letters = 1 + rng_below(&rng, 4);
        for (int s = 0; s < 2; s++) {
            length[s] = (int)rng_below(&rng, 60);
            for (int i = 0; i < length[s]; i++)
                text[s][i] = (char)('a' + (int)rng_below(&rng, letters));
        }
        add_bleu(&bleu, text[0], text[1]);
        add_chrf(&chrf, text[0], text[1]);
        for (int n = 1; n <= CHRF_CHAR_ORDER; n++) {
            int starts = length[1] - n + 1;
            if (starts > 0) plain.reference[n - 1] += starts;
            for (int i = 0; i + n <= length[0]; i++) {
                total[n - 1]++;
                plain.hypothesis[n - 1] += starts > 0;
                plain.correct[n - 1] += occurrences(text[0] + i, text[0], i, n) <
                                        occurrences(text[0] + i, text[1], starts, n);
            }
        }
    }
    assert_memory_equal(bleu.correct, plain.correct, sizeof bleu.correct);
    assert_memory_equal(bleu.total, total, sizeof bleu.total);
    assert_memory_equal(&chrf, &plain, sizeof chrf);
    assert_true(chrf.correct[5] > 0 && chrf.correct[5] < chrf.hypothesis[5]);
}

/* The longest sentence that is read takes as long as its length says, not its square. */
TEST(long_sentence)
{
    char *text = malloc(CODEPOINTS_LIMIT + 1);
    assert_non_null(text);
    for (int i = 0; i < CODEPOINTS_LIMIT; i++) text[i] = i % 2 ? ' ' : 'a';
    text[CODEPOINTS_LIMIT] = '\0';
    Bleu bleu = {.tokenization = TOKENIZATION_NONE};
    add_bleu(&bleu, text, text);
    assert_int_equal(bleu.hypothesis_length, CODEPOINTS_LIMIT / 2);
    assert_int_equal(bleu.correct[3], CODEPOINTS_LIMIT / 2 - 3);
    assert_true(bleu_score(&bleu).score == 100);
    free(text);
}

/* ---- whole files ---- */

enum { PATH = 4096 };

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH];
    assert_true(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot read '%s'", path);
    return file;
}

static void check_member(const char *name, double got, const json_t *expected, double tolerance)
{
    assert_true(json_is_number(expected));
    check_close(name, got, json_number_value(expected), tolerance);
}

static void check_bleu(const char *name, const Bleu *bleu, const json_t *expected)
{
    BleuScore score = bleu_score(bleu);
    check_member(name, score.score, json_object_get(expected, "score"), 0.500001e-4);
    for (int n = 0; n < BLEU_ORDER; n++) {
        const json_t *precision = json_array_get(json_object_get(expected, "precisions"), n);
        check_member(name, score.precisions[n], precision, 0.500001e-4);
    }
    check_member(name, score.brevity_penalty, json_object_get(expected, "bp"), 0.500001e-6);
    check_member(name, (double)bleu->hypothesis_length, json_object_get(expected, "sys_len"),
                 0);
    check_member(name, (double)bleu->reference_length, json_object_get(expected, "ref_len"), 0);
}

static char *read_line(FILE *file, char **line, size_t *size)
{
    ssize_t length = getline(line, size, file);
    if (length < 0) return NULL;
    if (length > 0 && (*line)[length - 1] == '\n') (*line)[length - 1] = '\0';
    return *line;
}

static void check_case(const char *folder, const json_t *expected)
{
    static const char *const bleu_names[] = {"bleu_13a",     "bleu_none",   "bleu_char",
                                             "bleu_intl",    "bleu_13a_lc", "bleu_none_lc",
                                             "bleu_char_lc", "bleu_intl_lc"};
    static const char *const chrf_names[] = {"chrf2", "chrf2pp", "chrf2_lc"};
    Bleu bleu[8] = {0};
    for (int i = 0; i < 8; i++)
        bleu[i] = (Bleu){.tokenization = (Tokenization)(i % 4), .lowercase = i >= 4};
    Chrf chrf[3] = {{.word_order = 0}, {.word_order = 2}, {.lowercase = true}};

    const char *name = json_string_value(json_object_get(expected, "hypothesis"));
    const char *reference_name = json_string_value(json_object_get(expected, "reference"));
    assert_non_null(name);
    assert_non_null(reference_name);
    FILE *hypotheses = open_file(folder, name), *references = open_file(folder, reference_name);
    char *line[2] = {NULL, NULL}, *h, *r;
    size_t size[2] = {0, 0};
    while (h = read_line(hypotheses, &line[0], &size[0]),
           r = read_line(references, &line[1], &size[1]), h && r) {
        for (int i = 0; i < 8; i++) add_bleu(&bleu[i], h, r);
        for (int i = 0; i < 3; i++) add_chrf(&chrf[i], h, r);
    }
    assert_true(!h && !r);  // as many lines in both
    free(line[0]);
    free(line[1]);
    fclose(hypotheses);
    fclose(references);

    for (int i = 0; i < 8; i++)
        check_bleu(bleu_names[i], &bleu[i], json_object_get(expected, bleu_names[i]));
    for (int i = 0; i < 3; i++)
        check_member(chrf_names[i], chrf_score(&chrf[i]),
                     json_object_get(expected, chrf_names[i]), 0.500001e-4);
}

static void replay(const char *folder)
{
    FILE *file = open_file(folder, "expected.json");
    json_t *expected = json_loadf(file, 0, NULL);
    fclose(file);
    const json_t *cases = json_object_get(expected, "cases");
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++)
        check_case(folder, json_array_get(cases, i));
    json_decref(expected);
}

TEST(files_by_hand)
{
    replay("tests/fixtures/score-vectors");
}

TEST(files_of_another_scorer)
{
    const char *folder = getenv("QKV_SCORE_VECTORS");
    if (!folder) skip();
    replay(folder);
}

TEST(composed_texts)
{
    static const char *const SAMPLE[][2] = {
        {"", ""},
        {"a", "a"},
        {"cafe\u0301", "caf\u00e9"},
        {"\u1100\u1161", "\uac00"},                        // Hangul
        {"q\u0307\u0323", "q\u0323\u0307"},                // marks in their order
        {"\u2126", "\u03a9"},                              // the sign for ohm
        {"\U0001d160", "\U0001d158\U0001d165\U0001d16e"},  // longer
        {"10⁵ ﬁ", "10⁵ ﬁ"},                                // no compatibility
    };
    for (size_t i = 0; i < sizeof SAMPLE / sizeof *SAMPLE; i++) {
        char *text = composed(SAMPLE[i][0], strlen(SAMPLE[i][0]));
        assert_string_equal(text, SAMPLE[i][1]);
        free(text);
    }
}

TEST_MAIN("scores", NULL, NULL)
