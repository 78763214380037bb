/* completion.c -- the option table as completion: what each shell's file says of each kind of
 * option, in quotes that hold. What the shells make of it is in tests/commands/install.sh. */
#include "manual/completion.h"
#include "tests/fixtures/test.h"

typedef struct Values {
    bool quiet, help, bias;
    int width, form;
    char *text;
    StringList list;
} Values;

static const char *const FORMS[] = {"power", "wu", NULL};
static const char *const HEADS[] = {"mean", "max", NULL};
#define AT(field) offsetof(Values, field)
// clang-format off
static const Option options[] = {
    {"d-model", OPTION_INT, AT(width), 1, 64, .help = "it's [the] width; a multiple"},
    {"bias", OPTION_FLAG, AT(bias), .help = "a \\ b"},
    {"form", OPTION_CHOICE, AT(form), .choices = FORMS, .help = "as Wu et al. 2016 have it. Or not"},
    {"head", OPTION_TEXT, AT(text), .choices = HEADS, .argument = "N|mean|max", .help = "a head"},
    {"source", OPTION_LIST, AT(list), .argument = "FILE", .help = "text"},
    {"output", OPTION_TEXT, AT(text), .argument = "DIR", .help = "a run"},
    {"draw", OPTION_TEXT, AT(text), .argument = "OUT.png", .help = "to"},
    {"word", OPTION_TEXT, AT(text), .argument = "A:B", .help = "which"},
    {"quiet", OPTION_FLAG, AT(quiet), .help = "silent", .flags = OPTION_LETTER},
    {"h", OPTION_FLAG, AT(help), .help = "in short; or so"},
};
// clang-format on

/* The file for the shell begins like this, has each line whole and in this order, and takes no
 * value for a flag. */
static void check_lines(Shell shell, const char *begin, const char *const *line)
{
    static Values values = {.bias = true, .width = 8};
    static const OptionGroup groups[] = {{"None", NULL, options, 0, &values},
                                         {"All", NULL, options, 10, &values}};
    const CompletedProgram program = {"a-b", "b", "TEXT", groups, 2};
    char *bytes = NULL;
    size_t size;
    FILE *out = open_memstream(&bytes, &size);
    assert_non_null(out);
    assert_true(completion_write(out, shell, &program));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strncmp(bytes, begin, strlen(begin)), 0);
    assert_null(strstr(bytes, "--quiet)"));
    const char *text = bytes;
    for (; *line; line++) {
        const char *found = text;
        size_t length = strlen(*line);
        while ((found = strstr(found, *line)) && (found[-1] != '\n' || found[length] != '\n'))
            found++;
        if (!found) fail_msg("not there, or not in its place: %s", *line);
        text = found + length;
    }
    free(bytes);
}

TEST(bash)
{
    static const char *const lines[] = {"_a_b()",
                                        "    --d-model) return ;;",
                                        "    --form) offer=(-W 'power wu') ;;",
                                        "    --head) offer=(-W 'mean max') ;;",
                                        "    --source) offer=(-f) ;;",
                                        "    --output) offer=(-d) ;;",
                                        "    --draw) offer=(-f) ;;",
                                        "    --word) return ;;",
                                        "        --d-model --bias --no-bias --form --head "
                                        "--source --output --draw --word -q --quiet -h')",
                                        "        --no-head --no-source --no-output --no-draw "
                                        "--no-word --no-quiet'",
                                        "complete -F _a_b a-b",
                                        NULL};
    check_lines(SHELL_BASH, "", lines);
}

TEST(zsh)
{
    static const char *const lines[] = {
        "_a_b()",
        "        '--d-model=[it'\\''s \\[the\\] width]:N (1 to 64; default 8): '",
        "        '--bias[a \\\\ b]'",
        "        '--no-bias[negate --bias]'",
        "        '--form=[as Wu et al. 2016 have it]:form (default power):(power wu)'",
        "        '--head=[a head]:N|mean|max:(mean max)'",
        "        '*--source=[text]:FILE (may be repeated):_files'",
        "        '--output=[a run]:DIR:_files -/'",
        "        '--draw=[to]:OUT.png:_files'",
        "        '--word=[which]:A\\:B: '",
        "        '-q[silent]'",
        "        '--quiet[silent]'",
        "        '-h[in short]'",
        "        '*:TEXT: '",
        "        '--no-head[negate --head]'",
        "        '--no-quiet[negate --quiet]'",
        "if [[ $funcstack[1] == _a-b ]]; then",
        NULL};
    check_lines(SHELL_ZSH, "#compdef a-b\n", lines);
}

TEST(fish)
{
    static const char *const lines[] = {
        "set -l who -c a-b",
        "complete $who -l d-model -x -d 'it\\'s [the] width'",
        "complete $who -l bias -d 'a \\\\ b'",
        "complete $who -l no-bias -d 'negate --bias'",
        "complete $who -l form -x -a 'power wu' -d 'as Wu et al. 2016 have it'",
        "complete $who -l head -x -a 'mean max' -d 'a head'",
        "complete $who -n $no -l no-head -d 'negate --head'",
        "complete $who -l source -r -F -d 'text'",
        "complete $who -l output -x -a $folders -d 'a run'",
        "complete $who -l draw -r -F -d 'to'",
        "complete $who -l word -x -d 'which'",
        "complete $who -s q -l quiet -d 'silent'",
        "complete $who -n $no -l no-quiet -d 'negate --quiet'",
        "complete $who -s h -d 'in short'",
        NULL};
    check_lines(SHELL_FISH, "", lines);
}

TEST_MAIN("completion", NULL, NULL)
