/* error.c -- messages that fit, messages that are too long, and a NULL error. */
#include "tests/fixtures/test.h"
#include <string.h>

#include "base/error.h"

TEST(a_sentence_is_kept)
{
    Error error;
    assert_false(error_set(&error, "cannot read '%s': %d", "a%sb", 7));
    assert_string_equal(error.text, "cannot read 'a%sb': 7");
    assert_false(error_prefix(&error, "line %d", 3));
    assert_string_equal(error.text, "line 3: cannot read 'a%sb': 7");
    assert_false(error_set(NULL, "text"));
    assert_false(error_prefix(NULL, "text"));
}

TEST(a_long_sentence_ends_in_dots)
{
    enum { SIZE = sizeof((Error *)0)->text };
    char text[2 * SIZE];
    memset(text, 'x', sizeof text);
    for (int length = SIZE - 5; length < SIZE + 5; length++) {
        Error error;
        text[length] = '\0';
        error_set(&error, "%s", text);
        size_t expected = length < SIZE ? (size_t)length : SIZE - 1;
        assert_int_equal(strlen(error.text), expected);
        assert_string_equal(error.text + expected - 3, length < SIZE ? "xxx" : "...");

        error_prefix(&error, "before");  // now too long in any case
        assert_int_equal(strlen(error.text), SIZE - 1);
        assert_memory_equal(error.text, "before: xxx", 11);
        assert_string_equal(error.text + SIZE - 4, "...");

        error_prefix(&error, "%s", text);  // and a context that fills all
        assert_true(strlen(error.text) <= SIZE - 1);
        assert_string_equal(error.text + SIZE - 4, "...");
        text[length] = 'x';
    }
}

/* What a file has in its name or its text does not command a terminal. */
TEST(control_characters_are_replaced)
{
    enum { SIZE = sizeof((Error *)0)->text };
    Error error;
    error_set(&error, "'%s'", "a\033[2J\xC2\x9B\u202E\x9B\nb");
    assert_string_equal(error.text, "'a\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFD"
                                    "b'");
    char text[SIZE];
    memset(text, '\033', sizeof text);
    text[SIZE - 1] = '\0';
    error_set(&error, "%s", text);  // fits only as it is
    assert_in_range(strlen(error.text), SIZE - 4, SIZE - 1);
    assert_string_equal(error.text + strlen(error.text) - 6, "\uFFFD...");
}

TEST_MAIN("error", NULL, NULL)
