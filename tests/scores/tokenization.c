/* Where BLEU's words begin and end, rule by rule: the expected words follow from the rules in
 * scores/tokenization.c, and the cases of letters from Unicode's SpecialCasing.txt. */
#include "scores/tokenization.h"
#include "base/rng.h"
#include "tests/fixtures/test.h"

/* UTF-8, one space between words. */
static void write_words(char *out, const Codepoints *text)
{
    char *p = out;
    bool space = false;
    for (int i = 0; i < text->length; i++) {
        uint32_t c = text->at[i];
        if (codepoints_is_space(c)) {
            space = p > out;
            continue;
        }
        if (space) *p++ = ' ';
        space = false;
        int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const int lead[] = {0, 0xC0, 0xE0, 0xF0};
        *p++ = (char)(lead[more] | (int)(c >> (6 * more)));
        while (more-- > 0) *p++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
    }
    *p = '\0';
}

/* c (=) one text, in lower case, or split into the words of a tokenization. */
static bool read(Comparison *c, const char *text, bool lowercase, SplitText *split,
                 int tokenization, Error *error)
{
    Tokenization t = (Tokenization)tokenization;
    return comparison_read(c, text, NULL, 0, lowercase, split, &t, error);
}

typedef struct Case {
    const char *text, *words;
} Case;

// clang-format off
static const Case cases_13a[] = {
    {"Hello, world!",        "Hello , world !"},
    {"  two   spaces \t",    "two spaces"},
    {"",                     ""},
    {"{}[]^_`!\"#$%&()*+/:;<=>?@|~\\", "{ } [ ] ^ _ ` ! \" # $ % & ( ) * + / : ; < = > ? @ | ~ \\"},
    {"don't well-known",     "don't well-known"},          // ' and - stay
    {"3.5 1,000 5. x.5 .5",  "3.5 1,000 5 . x . 5 . 5"},   // a digit on both sides keeps . and ,
    {"a.b,c",                "a . b , c"},
    {"...",                  ". . ."},
    {"1...2",                "1 . . .2"},                  // the 3rd period's "before" was the 2nd,
                                                           // which rule 6 had just taken in
    {"1,.2",                 "1 , . 2"},
    {"1990-95 A-5",          "1990 - 95 A-5"},             // - after a digit only
    {"-5",                   "-5"},
    {"&quot;a&quot; &lt;b&gt; &amp; &apos;", "\" a \" < b > & & apos ;"},
    {"&amp;lt;",             "<"},                         // one replacement feeds the next
    {"&amp;quot;",           "& quot ;"},                  // but not the one before it
    {"a<skipped>b",          "ab"},
    {"exam-\nple\nnext",     "example next"},
    {"über’s “x”。",         "über’s “x”。"},              // ASCII punctuation only
    {"é.5 5.é",              "é . 5 5 . é"},
    {"٣.٤",                  "٣ . ٤"},                     // only 0-9 are digits
    {"a\u00A0b\u3000c",      "a b c"},
};
static const Case cases_intl[] = {
    {"Hello, world!",        "Hello , world !"},
    {"don't well-known",     "don ' t well - known"},
    {"3.5 1,000",            "3.5 1,000"},
    {"٣٫٤ ٣،",               "٣٫٤ ٣،"},                    // numbers of all scripts
    {"٣، ٤",                 "٣ ، ٤"},
    {"in 2010.",             "in 2010."},                  // nothing behind the period
    {"in 2010. ",            "in 2010."},                  // white space at the end went first
    {"in 2010. Then",        "in 2010 . Then"},
    {"Ⅷ.Ⅸ ½.½",              "Ⅷ.Ⅸ ½.½"},
    {"„Ja“, l’été",          "„ Ja “ , l ’ été"},
    {"日本。「東京」",       "日本 。 「 東京 」"},
    {"5€ 1+1=2 😀x",         "5 € 1 + 1 = 2 😀 x"},
    {"&lt;",                 "& lt ;"},                    // no unescaping
};
static const Case cases_char[] = {
    {"ab c",                 "a b c"},
    {"東京 é.",              "東 京 é ."},
    {"",                     ""},
};
static const Case cases_none[] = {
    {"Hello, &lt; world! ",  "Hello, &lt; world!"},
    {"a\u2003b\x1c" "c\u200Bd", "a b c\u200Bd"},            // U+200B is no white space
};
static const Case cases_zh[] = {
    {"我在“北京”，ok.",        "我 在 “ 北 京 ” ， ok ."},
    {"3.5元 5.",             "3.5 元 5."},                 // nothing behind the period
    {"Hello, world!",        "Hello , world !"},
    {"カタ한글𠀀",           "カタ한글𠀀"},                 // not Chinese, or past U+FFFF
    {"ｱ１",                  "ｱ １"},                       // full and half width
};
static const Case cases_lower[] = {
    {"AbC ÄÖÜ ẞ ЖЩ Ǆǅ",      "abc äöü ß жщ ǆǆ"},
    {"İI",                   "i\u0307i"},
    {"Σ",                    "σ"},                   // no letter before it: not the end of a word
    {"ΟΔΟΣ ΣΑΣ.",            "οδος σας."},
    {"ΑΣ’ ΑΣ’Α",             "ας’ ασ’α"},            // the apostrophe is looked through
    {"1Σ ⅧΣ",                "1σ ⅷς"},               // a Roman numeral is cased, a digit is not
    {"ⒶⓏ 東京",              "ⓐⓩ 東京"},
};

enum { LOWER = TOKENIZATION_ZH + 1, TABLES };
#define CASES(name) {cases_##name, sizeof cases_##name / sizeof *cases_##name, #name}
static const struct {
    const Case *cases;
    size_t count;
    const char *name;
} tables[TABLES] = {[TOKENIZATION_13A] = CASES(13a), [TOKENIZATION_NONE] = CASES(none),
                    [TOKENIZATION_CHAR] = CASES(char), [TOKENIZATION_INTL] = CASES(intl),
                    [TOKENIZATION_ZH] = CASES(zh),
                    [LOWER] = CASES(lower)};
// clang-format on

TEST(test_rules)
{
    for (int t = 0; t < TABLES; t++) {
        if (t != LOWER) assert_string_equal(tokenization_names[t], tables[t].name);
        for (size_t i = 0; i < tables[t].count; i++) {
            Error error;
            Comparison c;
            char got[1024];
            assert_true(read(&c, tables[t].cases[i].text, t == LOWER,
                             t == LOWER ? NULL : tokenization_split, t, &error));
            write_words(got, c.text);
            assert_string_equal(got, tables[t].cases[i].words);
            comparison_free(&c);
        }
    }
}

TEST(test_hostile_text)
{
    static const struct {
        const char *text;
        int wrong_byte;
    } cases[] = {{"ab\xff", 3},
                 {"\xc3", 1},               // cut off
                 {"\xc0\xaf", 1},           // overlong
                 {"é\xed\xa0\x80", 3},      // surrogate
                 {"\xf4\x90\x80\x80", 1}};  // too high
    Error error;
    Comparison c;
    for (int i = 0; i < 5; i++) {
        char says[64];
        snprintf(says, sizeof says, "hypothesis: not valid UTF-8 at byte %d of the sentence",
                 cases[i].wrong_byte);
        assert_false(read(&c, cases[i].text, false, NULL, 0, &error));
        assert_string_equal(error.text, says);
        comparison_free(&c);
    }
    char *text = malloc(CODEPOINTS_LIMIT + 2);
    assert_non_null(text);
    memset(text, '.', CODEPOINTS_LIMIT + 1);
    text[CODEPOINTS_LIMIT + 1] = '\0';
    assert_false(read(&c, text, false, NULL, 0, &error));
    assert_string_equal(
        error.text, "hypothesis: a sentence of more than 1048576 bytes is too long to score");
    comparison_free(&c);

    text[CODEPOINTS_LIMIT] = '\0';  // the longest that is read, and every character a word
    for (int t = 0; t < 4; t++) {
        assert_true(read(&c, text, false, NULL, 0, &error));
        assert_int_equal(c.text->length, CODEPOINTS_LIMIT);
        comparison_free(&c);
        assert_true(read(&c, text, false, tokenization_split, t, &error));
        comparison_free(&c);
    }
    free(text);
}

/* Whatever comes in, only white space is added: the other characters stay, in their order. Not
 * for 13a, which replaces some; there it must only hold together. */
TEST(test_random_text)
{
    static const char *const pieces[] = {"a", "1",    ".",         ",", "-", " ",
                                         "&", "amp;", "é",         "’", "٣", "。",
                                         "€", "\n",   "<skipped>", "İ", "Σ", "😀"};
    Rng rng = rng_stream(1, RNG_TEST, 0);
    for (int round = 0; round < 2000; round++) {
        char text[512] = "";
        for (int i = (int)rng_below(&rng, 30); i > 0; i--)
            strcat(text, pieces[rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        for (int t = 0; t < 4; t++) {
            Error error;
            Comparison as_is, split;
            assert_true(read(&as_is, text, false, NULL, 0, &error));
            assert_true(read(&split, text, false, tokenization_split, t, &error));
            Codepoints before = *as_is.text, after = *split.text;
            int a = 0, b = 0;
            while (t != TOKENIZATION_13A) {
                while (a < after.length && codepoints_is_space(after.at[a])) a++;
                while (b < before.length && codepoints_is_space(before.at[b])) b++;
                if (a == after.length || b == before.length) break;
                assert_int_equal(after.at[a++], before.at[b++]);
            }
            if (t != TOKENIZATION_13A) assert_true(a == after.length && b == before.length);
            comparison_free(&as_is);
            comparison_free(&split);
        }
    }
}

TEST_MAIN("tokenization", NULL, NULL)
