/* UTF-8 made valid: bad bytes and control characters are replaced, long text is cut. */
#include "tests/fixtures/test.h"

#include <stdlib.h>

#include "base/utf8.h"

TEST(test_utf8)
{
    static const struct {
        const char *in, *out;
        size_t limit;
        bool lines;
    } cases[] = {
        {"", "", 0, false},
        {"abc", "abc", 3, false},
        {"abcd", "abc\xE2\x80\xA6", 3, false},
        {"\xE6\x97\xA5\xE6\x9C\xAC", "\xE6\x97\xA5\xE2\x80\xA6", 1, false},
        {"\xC3\xA4\xF0\x9F\x98\x80", "\xC3\xA4\xF0\x9F\x98\x80", 0, false},
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD", 0, false},                  // overlong
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 0, false},  // surrogate
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 0, false},
        {"x\xE6\x97", "x\xEF\xBF\xBD\xEF\xBF\xBD", 0, false},  // cut short
        {"a\nb\x01",
         "a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD",
         0, false},
        {"a\nb\x01", "a\nb\xEF\xBF\xBD", 0, true},
        {"\xEF\xBF\xBD", "\xEF\xBF\xBD", 0, false},
        {"a\x1B[2J\x7F\xC2\x9B", "a\xEF\xBF\xBD[2J\xEF\xBF\xBD\xEF\xBF\xBD", 0, true},
        {"\u202E\u2066\u2069\u2028", "\uFFFD\uFFFD\uFFFD\uFFFD", 0, true},
        {"\u00A0\u200D\u200F\u2070é", "\u00A0\u200D\u200F\u2070é", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *clean = utf8_clean(cases[i].in, cases[i].limit, cases[i].lines ? "\n\t" : "");
        assert_non_null(clean);
        assert_string_equal(clean, cases[i].out);
        free(clean);
    }
}

TEST(test_count)
{
    assert_int_equal(utf8_count("", 0), 0);
    assert_int_equal(utf8_count("a\xC3\xA4\xE6\x97\xA5\xF0\x9F\x98\x80", 10), 4);
}

TEST(test_fit)
{
    char to[8];
    assert_true(utf8_fit(to, sizeof to, "abcdefg"));
    assert_string_equal(to, "abcdefg");
    assert_false(utf8_fit(to, sizeof to, "abcdefgh"));
    assert_string_equal(to, "abcdefg");
    assert_true(utf8_fit(to, sizeof to,
                         "a\033"
                         "bcd"));
    assert_string_equal(to, "a\uFFFD"
                            "bcd");
    assert_false(utf8_fit(to, sizeof to, "abcde\xC2\x9B"));  // no half of a character
    assert_string_equal(to, "abcde");
}

TEST(test_print)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    utf8_print(out, "%s: %s\n", "a\nb", "\033[0m");
    utf8_put(out, "\u202Eda\tta\033\r\n", UTF8_CELL_ENDS);  // no terminal
    utf8_put(out, "\t-\r", UTF8_LINE_ENDS);
    utf8_put(out, "\t-\r", "");
    fclose(out);
    assert_string_equal(text, "a\uFFFD"
                              "b: \uFFFD[0m\n\u202Eda\uFFFDta\033\uFFFD\uFFFD"
                              "\t-\uFFFD\t-\r");
    free(text);
}

TEST(test_encode)
{
    for (unsigned code = 1, back; code < 0x110000; code++) {
        char text[5];
        if (code == 0xD800) code = 0xE000;  // surrogates are no characters
        utf8_encode(text, code);
        int bytes = utf8_next(text, &back);
        if (back != code || text[bytes]) fail_msg("U+%04X is U+%04X", code, back);
    }
}

TEST_MAIN("utf8", NULL, NULL)
