/* typography.c -- characters that a model lacks, and the case of letters: tables of texts. */
#include "data/typography.h"
#include "base/utf8.h"
#include "tests/fixtures/test.h"

#include <time.h>

static Error error;
static char *out;

/* Known are ASCII and the characters of the context, a string. */
static bool in(const void *context, unsigned character)
{
    unsigned code;
    if (character < 0x80) return true;
    for (const char *s = context; s && *s;) {
        s += utf8_next(s, &code);
        if (code == character) return true;
    }
    return false;
}

static bool only_curly(const void *context, unsigned character)
{
    return character != '"' && character != '\'' && in(context, character);
}

TEST(cleaned)
{
    static const struct {
        const char *text, *known, *wanted;
    } CASE[] = {
        {"", "", ""},
        {"I am ti\u00adred.", "", "I am tired."},
        {"I am ti\u200bred.", "", "I am tired."},
        {"\ufeffa\u2060b\ufeff", "", "ab"},
        {"a\u00adb\u200b", "\u00ad\u200b", "ab"},
        {"sh\u200cou\u200dld st\u200caat", "", "should staat"},
        {"де\u200cнь άν\u200dτρας Հա\u200cյ თბი\u200dლისი", "", "день άντρας Հայ თბილისი"},
        {"e\u0301\u200ct\u200ce\u0301", "ét", "été"},
        {"می\u200cروم ن\u200d a\u200c \u200db", "", "می\u200cروم ن\u200d a b"},
        {"👩\u200d👧 1\u200d2", "👩👧", "👩\u200d👧 12"},
        {"dogs.\u00a0\u200c\u00a0\u200c", "", "dogs.  "},
        {"a\u200eb\u202ac", "", "abc"},
        {"a\u200eb\u202ac", "\u200e", "a\u200ebc"},
        {"“I am tired,” she said.", "", "\"I am tired,\" she said."},
        {"“I am”", "“”", "“I am”"},
        {"«a» „b“ ”c‟", "", "\"a\" \"b\" \"c\""},
        {"«a» „b“", "«»", "«a» \"b\""},
        {"it’s ‘so’ ‹x› 5′", "", "it's 'so' 'x' 5'"},
        {"a – b — c ‑ d − e ― f", "", "a - b - c - d - e - f"},
        {"a — b", "–", "a - b"},
        {"Well… yes", "", "Well... yes"},
        {"Well… yes", "…", "Well… yes"},
        {"a\u00a0b\u202fc\u2009d\u3000e\u2028f", "", "a b c d e f"},
        {"a\u00a0b", "\u00a0", "a\u00a0b"},
        {"ﬁne ﬂour ｏｋ！ №", "", "fine flour ok! No"},
        {"m² ½ ①", "", "m² ½ ①"},
        {"cafe\u0301 A\u030a", "éÅ", "café Å"},
        {"cafe\u0301", "", "café"},
        {"\u1100\u1161\u11a8", "각", "각"},
        {"\u0374\u212b", "\u02b9Å", "\u02b9Å"},
        {"東京 → ★", "", "東京 → ★"},
        {"ﷲ", "الله", "الله"},
        {"\u0644\u0627", "", "\u0644\u0627"},
        {"ﻻ", "لا", "لا"},
        {"क्\u200dष", "", "क्\u200dष"},
        {"tab\there", "", "tab\there"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        assert_true(
            text_cleaned(&out, CASE[i].text, strlen(CASE[i].text), in, CASE[i].known, &error));
        assert_string_equal(out, CASE[i].wanted);
        free(out);
        assert_true(
            text_cleaned(&out, CASE[i].wanted, strlen(CASE[i].wanted), NULL, NULL, &error));
        assert_non_null(out);
        free(out);
    }
    assert_true(text_cleaned(&out, "\"it's\"", 6, only_curly, "”’", &error));
    assert_string_equal(out, "”it’s”");
    free(out);
    assert_true(
        text_cleaned(&out, "“a”…\u00a0\u00ad", strlen("“a”…\u00a0\u00ad"), NULL, NULL, &error));
    assert_string_equal(out, "“a”…\u00a0");
    free(out);
}

TEST(clusters)
{
    static const char *const ONE[] = {
        "a",      "é",  "e\u0301\u0323",      "👍🏽", "👩‍👩‍👧‍👦",
        "❤️", "각", "\u1100\u1161\u11a8", "1️⃣"};
    for (size_t i = 0; i < sizeof ONE / sizeof *ONE; i++) {
        char text[100];
        snprintf(text, sizeof text, "%sx", ONE[i]);
        assert_int_equal(text_cluster(text, strlen(text)), strlen(ONE[i]));
        assert_int_equal(text_cluster(ONE[i], strlen(ONE[i])), strlen(ONE[i]));
    }
}

TEST(cases)
{
    static const struct {
        const char *text;
        LetterCase wanted;
    } CASE[] = {
        {"", CASE_SENTENCE},
        {"...", CASE_SENTENCE},
        {"DID YOU CLOSE THE DOOR?", CASE_UPPER},
        {"I AM", CASE_UPPER},
        {"L'ÉTÉ EST LÀ", CASE_UPPER},
        {"DIE STRAßE", CASE_UPPER},
        {"ГДЕ ДОМ?", CASE_UPPER},
        {"30 DAYS", CASE_UPPER},
        {"OK", CASE_SENTENCE},
        {"I", CASE_SENTENCE},
        {"I'M", CASE_SENTENCE},
        {"A 4", CASE_SENTENCE},
        {"I'm", CASE_SENTENCE},
        {"NATO and EU", CASE_SENTENCE},
        {"THE iPhone", CASE_SENTENCE},
        {"東京 です", CASE_SENTENCE},
        {"Did You Close The Door?", CASE_TITLE},
        {"L'École Est Très Belle", CASE_TITLE},
        {"Don't Stop Me", CASE_TITLE},
        {"NATO Meets In Paris", CASE_TITLE},
        {"3 Men In A Boat", CASE_TITLE},
        {"Herr Müller kauft Brot", CASE_SENTENCE},
        {"I Overslept Again.", CASE_TITLE},
        {"A Well-known Man Left", CASE_TITLE},
        {"Hello World", CASE_SENTENCE},
        {"Close the Door Now", CASE_SENTENCE},
        {"I like Tom", CASE_SENTENCE},
        {"A MAN RUNS 10km IN THE 2nd ROW", CASE_UPPER},
        {"Mr. BROWN BUYS AN iPHONE.", CASE_UPPER},
        {"THREE MEN WAIT FOR A BUS IN TOWN (see below)", CASE_UPPER},
        {"at 5pm", CASE_SENTENCE},
        {"TWO DOGS are running", CASE_SENTENCE},
        {"A Man in a Red Shirt Sits on the Bench", CASE_HEADLINE},
        {"Der Mann mit dem Hut sitzt auf der Bank", CASE_SENTENCE},
        {"Un Groupe de Gens à Paris", CASE_SENTENCE},
        {"Tom and Mary saw Ann and Bob", CASE_SENTENCE},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
        if (text_case(CASE[i].text, strlen(CASE[i].text)) != CASE[i].wanted)
            fail_msg("%s", CASE[i].text);
}

/* Names: those of the context, each with spaces around it. */
static bool names(const void *context, const char *word, size_t length)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %.*s ", (int)length, word);
    return strstr(context, wanted);
}

TEST(lowered)
{
    static const struct {
        const char *text;
        LetterCase from;
        bool begins;
        const char *wanted;
    } CASE[] = {
        {"DO YOU KNOW MARY?", CASE_UPPER, true, "Do you know Mary?"},
        {"SO DO I, I THINK", CASE_UPPER, true, "So do I, I think"},
        {"YOU KNOW MARY", CASE_UPPER, false, "you know Mary"},
        {"I'M MARY'S FRIEND; DON'T", CASE_UPPER, true, "I'm Mary's friend; don't"},
        {"L'ÉTÉ D'ANNA, D’ANNA", CASE_UPPER, true, "L'été d'Anna, d’Anna"},
        {"ANNA-MARY", CASE_UPPER, false, "Anna-Mary"},
        {"\"WHERE?\"", CASE_UPPER, true, "\"Where?\""},
        {"30 DAYS", CASE_UPPER, true, "30 days"},
        {"STRASSE, STRAßE", CASE_UPPER, false, "strasse, straße"},
        {"ΟΔΟΣ ΟΔΥΣΣΕΥΣ", CASE_UPPER, false, "οδος οδυσσευς"},
        {"İSTANBUL ISI", CASE_UPPER, false, "istanbul isi"},
        {"ГДЕ ДОМ", CASE_UPPER, true, "Где дом"},
        {"ȺȺȺȺ", CASE_UPPER, false, "ⱥⱥⱥⱥ"},
        {"Did You Close The Door?", CASE_TITLE, true, "Did you close the door?"},
        {"Does Mary Know NATO And McAdam", CASE_TITLE, true, "Does Mary know NATO and McAdam"},
        {"Don't Stop", CASE_TITLE, false, "don't stop"},
        {"A Man Sees Mary and McAdam on TV", CASE_HEADLINE, true,
         "A man sees Mary and McAdam on TV"},
        {"TWO iPHONES AT 5pm", CASE_UPPER, true, "Two iphones at 5pm"},
        {"Keep It", CASE_SENTENCE, true, "Keep It"},
        {"", CASE_UPPER, true, ""},
        {"東京 です", CASE_UPPER, true, "東京 です"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        assert_true(text_lowered(&out, CASE[i].text, strlen(CASE[i].text), CASE[i].from,
                                 CASE[i].begins, false, names, " I Mary Anna ", &error));
        assert_string_equal(out, CASE[i].wanted);
        free(out);
    }
    assert_true(
        text_lowered(&out, "I KNOW MARY", 11, CASE_UPPER, true, false, NULL, NULL, &error));
    assert_string_equal(out, "I know mary");
    free(out);
    assert_true(
        text_lowered(&out, "IŞIK İÇİN IIII", 18, CASE_UPPER, true, true, NULL, NULL, &error));
    assert_string_equal(out, "Işık için ıııı");
    free(out);
}

TEST(in_case)
{
    static const struct {
        const char *text;
        LetterCase to;
        const char *wanted;
    } CASE[] = {
        {"Do you know?", CASE_UPPER, "DO YOU KNOW?"},
        {"straße ﬁn ΐ", CASE_UPPER, "STRASSE FIN \u0399\u0308\u0301"},
        {"οδός", CASE_UPPER, "ΟΔΌΣ"},
        {"ıi", CASE_UPPER, "II"},
        {"Où est l'école d’Anna ?", CASE_TITLE, "Où Est L'école D’Anna ?"},
        {"anna-maria don't 30km, NATO", CASE_TITLE, "Anna-maria Don't 30km, NATO"},
        {"ßa ǆa ɐa", CASE_TITLE, "ßa ǅa Ɐa"},
        {"ɐ ɐ ɐ ɐ", CASE_TITLE, "Ɐ Ɐ Ɐ Ɐ"},
        {"as it is", CASE_SENTENCE, "as it is"},
        {"", CASE_UPPER, ""},
        {"", CASE_TITLE, ""},
        {"東京", CASE_UPPER, "東京"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        size_t length = strlen(CASE[i].text);
        assert_true(text_in_case(&out, CASE[i].text, length, CASE[i].to, "", &error));
        assert_string_equal(out, CASE[i].wanted);
        free(out);
    }
    static const char *const LOCAL[][3] = {{"tr", "iki ırmak", "İKİ IRMAK"},
                                           {"el", "το ποτάμι", "ΤΟ ΠΟΤΑΜΙ"}};
    for (int i = 0; i < 2; i++) {
        const char *text = LOCAL[i][1];
        assert_true(text_in_case(&out, text, strlen(text), CASE_UPPER, LOCAL[i][0], &error));
        assert_string_equal(out, LOCAL[i][2]);
        free(out);
    }
    assert_true(text_in_case(&out, "iki ırmak", 10, CASE_TITLE, "az", &error));
    assert_string_equal(out, "İki Irmak");
    free(out);
}

/* A megabyte of marks on one letter, of words, or of what is replaced. */
TEST(linear)
{
    static const char *const CASE[] = {"a",      "\u0301\u0323", "A B ", "“", "ﷺ",
                                       "\u00ad", "e\u0301",      "a'",   "1"};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        size_t unit = strlen(CASE[i]), length = ((size_t)1 << 20) / unit * unit;
        char *text = malloc(length);
        clock_t begin = clock();
        for (size_t k = 0; k < length; k += unit) memcpy(text + k, CASE[i], unit);
        assert_true(text_cleaned(&out, text, length, in, NULL, &error));
        free(out);
        LetterCase letters = text_case(text, length);
        assert_true(text_lowered(&out, text, length, letters, true, true, names, "", &error));
        free(out);
        assert_true(text_in_case(&out, text, length, CASE_TITLE, "", &error));
        free(out);
        free(text);
        assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 20);
    }
}

TEST_MAIN("typography", NULL, NULL)
