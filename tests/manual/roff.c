/* roff.c -- text and option tables as roff. */
#include "manual/roff.h"
#include "tests/fixtures/test.h"

/* What manual_text makes of a text, or, without one, manual_options of the groups; free()
 * it. */
static char *roff(const char *text, const OptionGroup *groups, int count)
{
    char *roff = NULL;
    size_t size;
    FILE *out = open_memstream(&roff, &size);
    assert_non_null(out);
    if (text) manual_text(out, text);
    else assert_true(manual_options(out, groups, count));
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
        char *shown = roff(cases[i].text, NULL, 0);
        assert_string_equal(shown, cases[i].roff);
        free(shown);
    }
}

TEST(long_text_is_wrapped_and_no_line_is_a_request)
{
    char text[4000] = "";
    for (int i = 0; i < 300; i++) strcat(text, i % 3 ? "word " : ".request ");
    char *shown = roff(text, NULL, 0);
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

typedef struct Values {
    bool quiet, bias;
    int width, form;
    double rate;
    char *model;
} Values;

static const char *const FORMS[] = {"power", "inverse-sqrt", NULL};
#define AT(field) offsetof(Values, field)
// clang-format off
static const Option network[] = {
    {"d-model", OPTION_INT, AT(width), 1, 64, .help = "width; a multiple of --heads"},
    {"bias", OPTION_FLAG, AT(bias), .help = "have one"},
    {"form", OPTION_CHOICE, AT(form), .choices = FORMS, .help = "which", .flags = OPTION_EXPERT},
};
static const Option rest[] = {
    {"rate", OPTION_REAL, AT(rate), 1e-8, 1, .help = "its peak"},
    {"model", OPTION_TEXT, AT(model), .argument = "FILE|DIR", .help = "a run"},
    {"out", OPTION_TEXT, AT(model), .argument = "OUT.png|N,N|best", .help = "a picture"},
    {"quiet", OPTION_FLAG, AT(quiet), .help = NULL, .flags = OPTION_LETTER},
    {"h", OPTION_FLAG, AT(quiet), .help = "in short"},
};
// clang-format on

TEST(options_are_those_of_the_help)
{
    Values values = {.bias = true, .width = 8, .form = 1, .rate = 0.001};
    const OptionGroup groups[] = {{"The network", NULL, network, 3, &values},
                                  {"All-else", NULL, rest, 5, &values}};
    char *shown = roff(NULL, groups, 2);
    assert_string_equal(shown, ".SS The network\n"
                               ".TP\n"
                               "\\fB\\-\\-d\\-model\\fR \\fIN\\fR\n"
                               "width; a multiple of \\fB\\-\\-heads\\fR (1 to 64; default 8)\n"
                               ".TP\n"
                               "\\fB\\-\\-[no\\-]bias\\fR\n"
                               "have one (default on)\n"
                               ".SS All-else\n"
                               ".TP\n"
                               "\\fB\\-\\-rate\\fR \\fIX\\fR\n"
                               "its peak (1e\\-08 to 1; default 0.001)\n"
                               ".TP\n"
                               "\\fB\\-\\-model\\fR \\fIFILE\\fR|\\fIDIR\\fR\n"
                               "a run\n"
                               ".TP\n"
                               "\\fB\\-\\-out\\fR \\fIOUT\\fR\\fB.png\\fR|\\fIN\\fR,\\fIN\\fR|"
                               "\\fBbest\\fR\n"
                               "a picture\n"
                               ".TP\n"
                               "\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR\n"
                               "\n"
                               ".TP\n"
                               "\\fB\\-h\\fR\n"
                               "in short\n"
                               ".SS Expert\n"
                               ".TP\n"
                               "\\fB\\-\\-form\\fR \\fBpower\\fR|\\fBinverse\\-sqrt\\fR\n"
                               "which (default inverse-sqrt)\n");
    free(shown);
}

TEST_MAIN("roff", NULL, NULL)
