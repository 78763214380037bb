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
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *clean = utf8_clean(cases[i].in, cases[i].limit, cases[i].lines);
        assert_non_null(clean);
        assert_string_equal(clean, cases[i].out);
        free(clean);
    }
}

TEST_MAIN("utf8", NULL, NULL)
