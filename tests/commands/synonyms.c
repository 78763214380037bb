/* synonyms.c -- every answer to another program's option names options that this program has, and
 * every row can be reached. */
#include "commands/command.h"
#include "commands/train/settings.h"
#include "commands/translate/request.h"
#include "tests/fixtures/test.h"

static Settings settings;
static Request request;
static const struct {
    const char *name;
    const OptionGroup *groups;
    int count;
} programs[] = {{"train", settings.groups, SETTINGS_GROUPS},
                {"translate", request.groups, REQUEST_GROUPS}};

FIXTURE(begin)
{
    Error error;
    settings_defaults(&settings);
    return !request_defaults(&request, &error);
}

static bool has(int program, const char *name, size_t length)
{
    for (OptionPlace p = {0};
         options_next(&p, programs[program].groups, programs[program].count);)
        if (strlen(p.option->name) == length && !strncmp(p.option->name, name, length))
            return true;
    return false;
}

/* What the program answers to --NAME. */
static const char *answer(Error *error, int program, const char *name, size_t length)
{
    char word[80];
    char *argv[] = {"program", word};
    StringList words = {0};
    snprintf(word, sizeof word, "--%.*s", (int)length, name);
    assert_false(options_parse(programs[program].groups, programs[program].count,
                               option_synonyms, 2, argv, &words, error));
    return error->text;
}

/* The words of a remark in back quotes begin with options of the program. */
static void check_remark(int program, const Synonym *row)
{
    for (const char *s = row->remark; s && (s = strchr(s, '`')); s = strchr(s + 1, '`') + 1) {
        size_t length = strcspn(s + 1, "` ");
        if (!has(program, s + 1, length))
            fail_msg("%s: %s has no --%.*s", row->theirs, programs[program].name, (int)length,
                     s + 1);
    }
}

TEST(answers_name_options_that_there_are)
{
    for (const Synonym *row = option_synonyms; row->theirs; row++) {
        int in = 0;
        for (int program = 0; program < 2; program++) {
            if (row->ours && !has(program, row->ours, strlen(row->ours))) continue;
            in++;
            check_remark(program, row);
        }
        if (!in) fail_msg("no program has --%s", row->ours);
    }
}

TEST(every_word_is_answered_by_its_row)
{
    for (const Synonym *row = option_synonyms; row->theirs; row++)
        for (const char *word = row->theirs; *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");
            int answered = 0;
            assert_null(memchr(word, '_', length));
            for (int program = 0; program < 2; program++) {
                Error error;
                char expected[400];
                if (row->ours && !has(program, row->ours, strlen(row->ours))) continue;
                if (has(program, word, length)) continue;  // it means something else here
                snprintf(expected, sizeof expected, "no option --%.*s (%s%s)", (int)length,
                         word, row->remark ? row->remark : "here: --",
                         row->remark ? "" : row->ours);
                answered += !strcmp(answer(&error, program, word, length), expected);
            }
            if (!answered) fail_msg("%.*s is never answered so", (int)length, word);
            word += length;
        }
}

TEST_MAIN("synonyms", begin, NULL)
