/* roff.c -- text as roff. The tables of options: tests/commands/install.sh. */
#include "manual/roff.h"
#include "tests/fixtures/test.h"

/* What manual_text makes of a text; free() it. */
static char *roff(const char *text)
{
    char *roff = NULL;
    size_t size;
    FILE *out = open_memstream(&roff, &size);
    assert_non_null(out);
    manual_text(out, text);
    assert_int_equal(fclose(out), 0);
    return roff;
}

TEST(text_is_shown_as_it_is)
{
    static const struct {
        const char *text, *roff;
    } cases[] = {
        {"a plain phrase", "a plain phrase\n"},
        {"  white \n space  ", "white space\n"},
        {"", "\n"},
        /* what roff would take for a request, an escape, or another character */
        {".gz or 'quoted'", "\\&.gz or \\(aqquoted\\(aq\n"},
        {"'tis Adam's", "\\&\\(aqtis Adam's\n"},
        {"a\\nb", "a\\(rsnb\n"},
        {"p^A, ~x and `y`", "p\\(haA, \\(tix and \\(gay\\(ga\n"},
        {"i-j \xE2\x80\xA6", "i-j \\[u2026]\n"},
        {"\xC3\xBC \xF0\x9F\x98\x80", "\\[u00FC] \\[u1F600]\n"},
        /* no UTF-8: byte by byte, and never beyond the text's end */
        {"a\xFF z", "a\\[u00FF] z\n"},
        {"a\xE2\x80", "a\\[u00E2]\\[u0080]\n"},
        /* where a line ends, a full stop is a sentence's or not */
        {"the Transformer as it was described by Vaswani, Wu and others et al. 2017",
         "the Transformer as it was described by Vaswani, Wu and others\net al. 2017\n"},
        {"the Transformer as it was described in Vaswani, Wu, Li and al. 2017",
         "the Transformer as it was described in Vaswani, Wu, Li and al.\\&\n2017\n"},
        {"the Transformer as it was described in Vaswani, Wu, Li, anew. Or",
         "the Transformer as it was described in Vaswani, Wu, Li, anew.\nOr\n"},
        /* hyphens: of words, and of what is to be copied */
        {"a warm-up", "a warm-up\n"},
        {"1e-08 to -1", "1e\\-08 to \\-1\n"},
        {"d-model=128", "d\\-model=128\n"},
        {"update-N.safetensors.", "update\\-N.safetensors.\n"},
        {"text - and -", "text \\- and \\-\n"},
        /* names of options */
        {"at most --beam, unless", "at most \\fB\\-\\-beam\\fR, unless\n"},
        {"(--target) or --no-x", "(\\fB\\-\\-target\\fR) or \\fB\\-\\-no\\-x\\fR\n"},
        {"a--b -- --N --x-", "a\\-\\-b \\-\\- \\-\\-N \\fB\\-\\-x\\fR\\-\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown = roff(cases[i].text);
        assert_string_equal(shown, cases[i].roff);
        free(shown);
    }
}

TEST(long_text_is_wrapped_and_no_line_is_a_request)
{
    char text[4000] = "";
    for (int i = 0; i < 300; i++) strcat(text, i % 3 ? "word " : ".request ");
    char *shown = roff(text);
    int words = 0;
    for (char *line = strtok(shown, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(strlen(line) <= 80);
        assert_true(line[0] != '.' && line[0] != '\'');
        words++;
        for (const char *s = line; *s; s++) words += *s == ' ';
    }
    assert_int_equal(words, 300);
    free(shown);
}

TEST_MAIN("roff", NULL, NULL)
