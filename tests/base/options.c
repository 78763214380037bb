/* options.c -- the option table: command line, presets, help, config.json, and every kind of
 * wrong use, as data. */
#include "tests/fixtures/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

typedef struct Values {
    bool quiet, help, bias;
    int width, schedule;
    uint64_t seed;
    double rate, free;
    char *output;
    StringList source;
} Values;

static const char *const schedules[] = {"inverse-sqrt", "cosine", "constant", NULL};

#define AT(field) offsetof(Values, field)
// clang-format off
static const Option run_options[] = {
    {"quiet", OPTION_FLAG, AT(quiet), 0, 0, NULL, NULL, "say nothing",
     OPTION_LETTER | OPTION_COMMON},
    {"h", OPTION_FLAG, AT(help), 0, 0, NULL, NULL, "help", 0},
};
static const Option model_options[] = {
    {"d-model", OPTION_INT, AT(width), 1, 8192, NULL, NULL, "width of the network", 0},
    {"output-bias", OPTION_FLAG, AT(bias), 0, 0, NULL, NULL,
     "learn a bias for every word", 0},
    {.name = "bias", .help = "false", .flags = OPTION_REMOVED},
    {.name = "layer", .flags = OPTION_REMOVED},
};
static const Option training_options[] = {
    {"learning-rate", OPTION_REAL, AT(rate), 1e-8, 1, NULL, NULL,
     "the peak: of the schedule", OPTION_COMMON},
    {"free", OPTION_REAL, AT(free), 0, 0, NULL, NULL, "with --output or --quiet: any number",
     OPTION_EXPERT},
    {"seed", OPTION_UINT64, AT(seed), 0, 0, NULL, NULL, "of all random numbers", 0},
    {"schedule", OPTION_CHOICE, AT(schedule), 0, 0, schedules, "NAME",
     "how the learning rate changes", 0},
    {"output", OPTION_TEXT, AT(output), 0, 0, NULL, "DIR",
     "the folder of the run, with everything that is needed to go on with it later, or on "
     "another machine; or here", OPTION_COMMON},
    {"train-source", OPTION_LIST, AT(source), 0, 0, NULL, "FILE", "text to learn from", 0},
};
// clang-format on

static Values values;
static const OptionGroup groups[] = {{"Model", "model", model_options, 4, &values},
                                     {"Training", "training", training_options, 6, &values},
                                     {"Run", NULL, run_options, 2, &values}};
static StringList words;
static Error error;

/* Frees what the last case has stored, and sets the defaults. */
FIXTURE(begin)
{
    options_free(groups, 3);
    strings_free(&words);
    assert_null(values.output);
    assert_null(values.source.item);
    values = (Values){.width = 512, .rate = 3e-4, .seed = 1, .bias = true};
    error = (Error){""};
    return 0;
}

/* Cuts a command line at its spaces. */
static bool parse(const char *line)
{
    char copy[512], *argv[64] = {"train"}, *rest = copy;
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word; (word = strsep(&rest, " "));)
        if (*word) argv[argc++] = word;
    return options_parse(groups, 3, argc, argv, &words, &error);
}

TEST(every_kind_is_read)
{
    begin(NULL);
    assert_true(parse("--d-model 256 one --no-output-bias --learning-rate=1e-3 --quiet "
                      "--seed 9223372036854775807 --schedule cosine --output=a=b - "
                      "--train-source x --train-source=y --free -1.5E+3 -- --d-model"));
    assert_int_equal(values.width, 256);
    assert_false(values.bias);
    assert_true(values.quiet);
    assert_true(values.rate == 1e-3);
    assert_true(values.free == -1500);
    assert_true(values.seed == INT64_MAX);
    assert_int_equal(values.schedule, 1);
    assert_string_equal(values.output, "a=b");
    assert_int_equal(values.source.count, 2);
    assert_string_equal(values.source.item[0], "x");
    assert_string_equal(values.source.item[1], "y");
    assert_int_equal(words.count, 3);
    assert_string_equal(words.item[0], "one");
    assert_string_equal(words.item[1], "-");
    assert_string_equal(words.item[2], "--d-model");
    assert_true(parse("--no-output --no-train-source --quiet=false --d-model 2"));
    assert_null(values.output);
    assert_int_equal(values.source.count, 0);
    assert_false(values.quiet);
    assert_int_equal(values.width, 2);  // the last mention wins
}

TEST(wrong_values_are_explained)
{
    static const struct {
        const char *option, *takes, *wrong;  // one value a word
    } cases[] = {
        {"learning-rate", "a number from 1e-08 to 1", "hot 2 1.1 nan 0x1p-3 0.1.2 EMPTY"},
        {"free", "a number", "inf 1e999"},
        {"d-model", "a whole number from 1 to 8192",
         "0 8193 4294967808 99999999999999999999 5.0 5x"},
        {"seed", "a whole number from 0 to 9223372036854775807", "-1 9223372036854775808"},
        {"schedule", "inverse-sqrt, cosine or constant", "warm cos"},
        {"output", "DIR", "EMPTY"},
        {"quiet", "true or false", "maybe"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char copy[128], line[128], expected[256], *rest = strcpy(copy, cases[i].wrong);
        for (char *word; (word = strsep(&rest, " "));) {
            const char *value = strcmp(word, "EMPTY") ? word : "";
            begin(NULL);
            snprintf(line, sizeof line, "--%s=%s", cases[i].option, value);
            snprintf(expected, sizeof expected, "--%s takes %s, not '%s'", cases[i].option,
                     cases[i].takes, value);
            assert_false(parse(line));
            assert_string_equal(error.text, expected);
        }
    }
}

TEST(wrong_use_is_explained)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"--seed -1", "--seed takes a whole number from 0 to 9223372036854775807, not '-1'"},
        {"--d-model", "--d-model takes a whole number from 1 to 8192, but nothing follows it"},
        {"--output --quiet", "--output takes DIR, but '--quiet' follows it"},
        {"--no-quiet=true", "--no-quiet takes no value"},
        {"--lerning-rate 1",
         "unknown option '--lerning-rate': did you mean '--learning-rate'?"},
        {"--learning 1", "unknown option '--learning': did you mean '--learning-rate'?"},
        {"--no-quite", "unknown option '--no-quite': did you mean '--no-quiet'?"},
        {"--no-seed", "--seed always has a value: there is no '--no-seed'"},
        {"--warp-factor 9", "unknown option '--warp-factor': see --help"},
        {"-x", "unknown option '-x': see --help"},
        {"-quiet", "unknown option '-quiet': did you mean '--quiet'?"},
        {"--=3", "unknown option '--': see --help"},
        {"--q", "unknown option '--q': see --help"},
        {"--no-", "unknown option '--no-': see --help"},
        {"--d_model 4", "unknown option '--d_model': did you mean '--d-model'?"},
        {"--bias", "unknown option '--bias': see --help"},  // the old name of a saved value
        {"--free 1", "--free goes with --output or --quiet: give that, too, or leave it out"},
        {"--free 1 --no-quiet --no-output",
         "--free goes with --output or --quiet: give that, too, or leave it out"},
        // hints only where they are near
        {"--send", "unknown option '--send': did you mean '--seed'?"},
        {"--scedul", "unknown option '--scedul': see --help"},
        {"--shedule", "unknown option '--shedule': did you mean '--schedule'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        assert_false(parse(cases[i].line));
        assert_string_equal(error.text, cases[i].error);
    }
    begin(NULL);
    char *argv[] = {"train", "surplus"};
    assert_false(options_parse(groups, 3, 2, argv, NULL, &error));
    assert_string_equal(error.text, "unexpected argument 'surplus'");
}

TEST(names_in_errors_become_options)
{
    static const struct {
        const char *error, *shown;
    } cases[] = {
        {"`d-model` 5: try `schedule cosine`", "--d-model 5: try --schedule cosine"},
        {"`no-quiet`", "--no-quiet"},
        {"`width` of `d-model=8` and `seed`", "width of --d-model=8 and --seed"},
        {"'a`b', `` and `D` stay", "'a`b', `` and `D` stay"},
        {"a`seed``free`b`", "a--seed--freeb`"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        error_set(&error, "%s", cases[i].error);
        options_name_in_error(groups, 3, &error);
        assert_string_equal(error.text, cases[i].shown);
    }
}

TEST(stronger_sources_win)
{
    begin(NULL);
    char *argv[] = {"train", "--output",   "x",       "--free=2", "--train-source",
                    "mine",  "--no-quiet", "--wrong", "--",       "--seed=7"};
    assert_string_equal(options_find_text(groups, 3, 10, argv, "output"), "x");
    assert_string_equal(options_find_text(groups, 3, 10, argv, "free"), "2");
    assert_string_equal(options_find_text(groups, 3, 10, argv, "quiet"), "false");
    assert_null(options_find_text(groups, 3, 10, argv, "seed"));
    assert_null(options_find_text(groups, 3, 10, argv, "d-model"));
    assert_null(values.output);  // nothing was set

    assert_true(parse("--d-model=64 --free=1 --quiet --no-output-bias --train-source=a "
                      "--train-source=b"));
    assert_int_equal(values.source.count, 2);
    assert_true(options_from_json(groups, 3,
                                  "{\"training\":{\"free\":1.5,\"train_source\":"
                                  "[\"c\",\"d\",\"e\"]}}",
                                  "config.json", false, &error));
    assert_int_equal(values.source.count, 3);
    assert_true(parse("--quiet --free=2 --train-source mine --train-source=yours"));
    assert_int_equal(values.width, 64);
    assert_false(values.bias);
    assert_true(values.free == 2);
    assert_int_equal(values.source.count, 2);
    assert_string_equal(values.source.item[0], "mine");

    assert_true(options_set(groups, 3, "seed", "5", &error));
    assert_true(values.seed == 5);
    assert_true(options_set(groups, 3, "train-source", "one", &error));
    assert_int_equal(values.source.count, 1);
    assert_false(options_set(groups, 3, "sed", "5", &error));
    assert_string_equal(error.text, "unknown option 'sed': did you mean 'seed'?");
    assert_false(options_set(groups, 3, "seed", "x", &error));
    assert_string_equal(error.text,
                        "`seed` takes a whole number from 0 to 9223372036854775807, not 'x'");
}

TEST(help_shows_the_table)
{
    begin(NULL);
    assert_true(options_set(groups, 3, "output", "checkpoints/toy", &error));
    char *help = options_help(groups, 3, false), *brief = options_help(groups, 3, true);
    assert_string_equal(
        help,
        "Model\n"
        "  --d-model N          width of the network (1 to 8192; default 512)\n"
        "  --[no-]output-bias   learn a bias for every word (default on)\n"
        "\n"
        "Training\n"
        "  --learning-rate X    the peak: of the schedule (1e-08 to 1; default 0.0003)\n"
        "  --seed N             of all random numbers (default 1)\n"
        "  --schedule NAME      how the learning rate changes (inverse-sqrt, cosine, "
        "constant;\n"
        "                       default inverse-sqrt)\n"
        "  --output DIR         the folder of the run, with everything that is needed to go on "
        "with\n"
        "                       it later, or on another machine; or here (default "
        "checkpoints/toy)\n"
        "  --train-source FILE  text to learn from (may be repeated)\n"
        "\n"
        "Run\n"
        "  -q, --quiet          say nothing\n"
        "  -h                   help\n"
        "\n"
        "Expert\n"
        "  --free X             with --output or --quiet: any number (default 0)\n");
    assert_string_equal(
        brief,
        "  --learning-rate X  the peak\n"
        "  --output DIR       the folder of the run, with everything that is needed to go on "
        "with it\n"
        "                     later, or on another machine\n"
        "  -q, --quiet        say nothing\n");
    free(help);
    free(brief);
}

TEST(letters_are_short_forms)
{
    begin(NULL);
    assert_true(parse("-q one"));
    assert_true(values.quiet);
    assert_false(values.help);
    assert_true(parse("-h -- -q"));
    assert_true(values.help);
    assert_int_equal(words.count, 2);
    assert_string_equal(words.item[1], "-q");
}

TEST(removed_options_are_read_with_the_value_that_is_kept)
{
    begin(NULL);
    assert_true(options_from_json(groups, 3, "{\"model\":{\"bias\":false,\"layer\":7}}", "c",
                                  false, &error));
    assert_true(values.bias);
    assert_false(
        options_from_json(groups, 3, "{\"model\":{\"bias\":true}}", "c", false, &error));
    assert_string_equal(error.text,
                        "c: 'model.bias' is no longer supported: only false goes on");
    char *text = options_to_json(groups, 3, false);
    assert_null(strstr(text, "\"bias\""));
    free(text);
}

TEST(saved_configuration_comes_back)
{
    begin(NULL);
    assert_true(parse("--learning-rate 0.1 --free 1e300 --seed 9007199254740993 --quiet "
                      "--schedule constant --train-source a\"b --train-source \xC3\xBC "
                      "--train-source \xE9\xF4\x8F\xBF\xA9"));
    char *text = options_to_json(groups, 3, false);
    assert_string_equal(text, "{\n"
                              "  \"model\": {\n"
                              "    \"d_model\": 512,\n"
                              "    \"output_bias\": true\n"
                              "  },\n"
                              "  \"training\": {\n"
                              "    \"learning_rate\": 0.1,\n"
                              "    \"free\": 1e+300,\n"
                              "    \"seed\": 9007199254740993,\n"
                              "    \"schedule\": \"constant\",\n"
                              "    \"output\": null,\n"
                              "    \"train_source\": [\n"
                              "      \"a\\\"b\",\n"
                              "      \"\xC3\xBC\",\n"
                              "      \"\\udbff\\udfe9\\udbff\\udff4\\udbff\\udf8f"
                              "\\udbff\\udfbf\\udbff\\udfa9\"\n"
                              "    ]\n"
                              "  }\n"
                              "}\n");
    begin(NULL);
    assert_true(options_set(groups, 3, "output", "something", &error));
    assert_true(options_from_json(groups, 3, text, "config.json", false, &error));
    char *again = options_to_json(groups, 3, false);
    assert_string_equal(again, text);
    assert_null(values.output);
    assert_false(values.quiet);
    assert_string_equal(values.source.item[2], "\xE9\xF4\x8F\xBF\xA9");
    assert_true(options_from_json(groups, 1, text, "config.json", true, &error));
    assert_false(options_from_json(groups, 1, text, "config.json", false, &error));
    assert_string_equal(error.text, "config.json: unknown key 'training'");
    free(text);
    free(again);
}

TEST(wrong_configurations_are_explained)
{
    static const struct {
        const char *json, *error;
    } cases[] = {
        {"{\"model\":{\"d_model\":\"wide\"}}",
         "c: model.d_model takes a whole number, not a text"},
        {"{\"model\":{\"d_model\":5.5}}",
         "c: model.d_model takes a whole number, not a number"},
        {"{\"model\":{\"d_model\":0}}",
         "c: model.d_model takes a whole number from 1 to 8192, not '0'"},
        {"{\"model\":{\"d_model\":null}}", "c: model.d_model takes a whole number, not null"},
        {"{\"model\":{\"d-model\":5}}", "c: unknown key 'model.d-model'"},
        {"{\"model\":{\"output_bias\":1}}",
         "c: model.output_bias takes true or false, not a whole number"},
        {"{\"model\":[]}", "c: 'model' is no object of options"},
        {"{\"training\":{\"schedule\":\"warm\"}}",
         "c: training.schedule takes inverse-sqrt, cosine or constant, not 'warm'"},
        {"{\"training\":{\"learning_rate\":10}}",
         "c: training.learning_rate takes a number from 1e-08 to 1, not '10'"},
        {"{\"training\":{\"train_source\":\"a\"}}",
         "c: training.train_source takes a list of texts, not a text"},
        {"{\"training\":{\"train_source\":[\"a\",3]}}",
         "c: training.train_source takes a list of texts, not a whole number"},
        {"{\"training\":{\"output\":\"\"}}", "c: training.output takes DIR, not ''"},
        {"{\"training\":{\"quiet\":true}}", "c: unknown key 'training.quiet'"},
        {"{\"mo\\u001bdel\":{}}", "c: unknown key 'mo\uFFFDdel'"},
        {"[]", "c: the outermost value must be an object"},
        {"{\"model\":{\"d_model\":5,\"d_model\":6}}",
         "c:1:31: duplicate object key near '\"d_model\"'"},
        {"{\"model\":{\"d_model\" 5}}", "c:1:21: ':' expected near '5'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(NULL);
        assert_false(options_from_json(groups, 3, cases[i].json, "c", false, &error));
        assert_string_equal(error.text, cases[i].error);
    }
}

TEST_MAIN("options", NULL, begin)
