/* options.c -- checks and stores one option's text, and reads a command line; see options.h. The
 * help and config.json are in options-help.c and options-json.c. */
#include "base/options.h"
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of texts ---- */

bool strings_add(StringList *list, const char *text, Error *error)
{
    char **item = realloc(list->item, sizeof *item * ((size_t)list->count + 1));
    if (item) list->item = item;
    char *copy = item ? strdup(text) : NULL;
    if (!copy) return error_set(error, "not enough memory for the options");
    list->item[list->count++] = copy;
    return true;
}

void strings_free(StringList *list)
{
    for (int i = 0; i < list->count; i++) free(list->item[i]);
    free(list->item);
    *list = (StringList){0};
}

/* ---- one option ---- */

bool option_range(char text[RANGE_TEXT], const Option *option)
{
    bool real = option->kind == OPTION_REAL;
    double least = option->least, most = option->most;
    char from[REAL_TEXT], to[REAL_TEXT];
    bool limited = least != 0 || most != 0;
    if (!limited && option->kind == OPTION_UINT64) {
        snprintf(text, RANGE_TEXT, "0 to %lld", (long long)INT64_MAX);
        return true;
    }
    snprintf(from, sizeof from, "%.0f", least);
    snprintf(to, sizeof to, "%.0f", most);
    if (real) {
        real_text(from, least);
        real_text(to, most);
    }
    bool upwards = most >= (real ? INFINITY : option->kind == OPTION_INT ? INT_MAX : 0x1p63);
    if (upwards) snprintf(text, RANGE_TEXT, "%s up", from);
    else snprintf(text, RANGE_TEXT, "%s to %s", from, to);
    return limited;
}

/* "a number from 1e-08 to 1": what the option takes, for errors. */
static void describe(char *text, size_t size, const Option *option)
{
    char range[RANGE_TEXT];
    switch (option->kind) {
    case OPTION_FLAG: snprintf(text, size, "true or false"); return;
    case OPTION_TEXT:
    case OPTION_LIST:
        snprintf(text, size, "%s", option->argument ? option->argument : "a text");
        return;
    case OPTION_CHOICE:
        for (size_t i = 0, used = 0; option->choices[i] && used < size; i++) {
            const char *between = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", between, option->choices[i]);
        }
        return;
    default: break;
    }
    bool limited = option_range(range, option);
    snprintf(text, size, "a %snumber%s%s", option->kind == OPTION_REAL ? "" : "whole ",
             limited ? " from " : "", limited ? range : "");
}

static bool refuse(const Option *option, const char *label, const char *text, Error *error)
{
    char wanted[512];
    describe(wanted, sizeof wanted, option);
    return error_set(error, "%s takes %s, not '%s'", label, wanted, text);
}

/* Digits, sign, point and exponent only: strtod alone would take "nan", "inf", "0x1p3", " 1". */
static bool read_number(const char *text, double *number)
{
    char *end;
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) return false;
    *number = strtod(text, &end);
    return !*end && isfinite(*number);
}

static bool read_whole(const char *text, long long *number)
{
    char *end;
    if (!*text || strspn(text, "0123456789-") != strlen(text)) return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return !*end && !errno;
}

static bool in_range(const Option *option, double number)
{
    if (option->least == 0 && option->most == 0) return true;
    return number >= option->least && number <= option->most;
}

static bool store_text(char **field, const char *text, Error *error)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) return error_set(error, "not enough memory for the options");
    free(*field);
    *field = copy;
    return true;
}

bool option_store(const Option *option, void *values, const char *label, const char *text,
                  bool add, Error *error)
{
    void *field = (char *)values + option->offset;
    long long whole;
    double number;
    assert(text || option->kind == OPTION_TEXT || option->kind == OPTION_LIST);
    switch (option->kind) {
    case OPTION_FLAG:
        if (strcmp(text, "true") && strcmp(text, "false"))
            return refuse(option, label, text, error);
        *(bool *)field = !strcmp(text, "true");
        return true;
    case OPTION_INT:
        if (!read_whole(text, &whole) || whole < INT_MIN || whole > INT_MAX ||
            !in_range(option, (double)whole))
            return refuse(option, label, text, error);
        *(int *)field = (int)whole;
        return true;
    case OPTION_UINT64:
        if (!read_whole(text, &whole) || whole < 0 || !in_range(option, (double)whole))
            return refuse(option, label, text, error);
        *(uint64_t *)field = (uint64_t)whole;
        return true;
    case OPTION_REAL:
        if (!read_number(text, &number) || !in_range(option, number))
            return refuse(option, label, text, error);
        *(double *)field = number;
        return true;
    case OPTION_CHOICE:
        for (int i = 0; option->choices[i]; i++)
            if (!strcmp(option->choices[i], text)) {
                *(int *)field = i;
                return true;
            }
        return refuse(option, label, text, error);
    case OPTION_TEXT:
        if (text && !*text) return refuse(option, label, text, error);
        return store_text(field, text, error);
    case OPTION_LIST:
        if (text && !*text) return refuse(option, label, text, error);
        if (!add) strings_free(field);
        return !text || strings_add(field, text, error);
    }
    return false;
}

void options_free(const OptionGroup *groups, int count)
{
    for (int g = 0; g < count; g++)
        for (int i = 0; i < groups[g].count; i++) {
            const Option *option = &groups[g].options[i];
            if (option->kind == OPTION_TEXT || option->kind == OPTION_LIST)
                option_store(option, groups[g].values, option->name, NULL, false, NULL);
        }
}

/* ---- finding an option by its name ---- */

static const Option *find(const OptionGroup *groups, int count, const char *name, size_t length,
                          void **values)
{
    for (int g = 0; g < count; g++)
        for (int i = 0; i < groups[g].count; i++) {
            const Option *option = &groups[g].options[i];
            if (strlen(option->name) != length || memcmp(option->name, name, length)) continue;
            *values = groups[g].values;
            return option;
        }
    return NULL;
}

/* Letters to insert, delete, replace, or swap with their neighbour to get from a to b (Damerau
 * 1964, in the form where no part is edited twice). */
enum { NAME_LIMIT = 48 };

static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int d[NAME_LIMIT + 1][NAME_LIMIT + 1];
    if (n > NAME_LIMIT || m > NAME_LIMIT) return NAME_LIMIT;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

/* The nearest name, if it is near: up to a third of the letters, or the beginning of the name. */
static const char *nearest(const OptionGroup *groups, int count, const char *name)
{
    const char *best = NULL;
    int length = (int)strlen(name), least = (length + 2) / 3 + 1;
    for (int g = 0; g < count; g++)
        for (int i = 0; i < groups[g].count; i++) {
            const char *other = groups[g].options[i].name;
            int far = distance(name, other);
            if (length >= 3 && !strncmp(name, other, (size_t)length)) far = 1;
            if (far < least) {
                least = far;
                best = other;
            }
        }
    return best;
}

static bool unknown(const OptionGroup *groups, int count, const char *word, const char *name,
                    Error *error)
{
    const char *no = strncmp(name, "no-", 3) ? "" : "no-";
    const char *meant = nearest(groups, count, name + strlen(no));
    int length = (int)strcspn(word, "=");
    if (!meant) return error_set(error, "unknown option '%.*s': see --help", length, word);
    return error_set(error, "unknown option '%.*s': did you mean '--%s%s'?", length, word, no,
                     meant);
}

/* In place: two dashes take as much space as two back quotes. */
void options_name_in_error(const OptionGroup *groups, int count, Error *error)
{
    char *out = error->text;
    for (const char *s = out; *s;) {
        const char *name = s + 1;
        size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_=. ");
        if (*s != '`' || *name < 'a' || *name > 'z' || name[length] != '`') {
            *out++ = *s++;
            continue;
        }
        void *unused;
        const char *plain = strncmp(name, "no-", 3) ? name : name + 3;
        s = name + length + 1;
        bool option = find(groups, count, name, strcspn(name, " =`"), &unused) ||
                      find(groups, count, plain, strcspn(plain, " =`"), &unused);
        memmove(out + 2 * option, name, length);
        if (option) memcpy(out, "--", 2);
        out += length + 2 * option;
    }
    *out = 0;
}

/* ---- the command line ---- */

typedef struct Mention {
    const Option *option;  // NULL: the word is an argument
    void *values;
    const char *text;  // NULL: taken back by --no-NAME
} Mention;

bool option_can_take_back(const Option *option)
{
    return option->kind == OPTION_FLAG || option->kind == OPTION_TEXT ||
           option->kind == OPTION_LIST;
}

/* The value that follows its option as a word of its own. */
static bool following(const OptionGroup *groups, int count, const Option *option, int argc,
                      char *const *argv, int *i, const char **text, Error *error)
{
    char wanted[512];
    describe(wanted, sizeof wanted, option);
    if (*i >= argc)
        return error_set(error, "--%s takes %s, but nothing follows it", option->name, wanted);
    *text = argv[(*i)++];
    void *unused;
    if (!strncmp(*text, "--", 2) &&
        find(groups, count, *text + 2, strcspn(*text + 2, "="), &unused))
        return error_set(error, "--%s takes %s, but '%s' follows it", option->name, wanted,
                         *text);
    return true;
}

/* Reads one mention, or one argument, at argv[*i] and moves *i past it. */
static bool read_mention(const OptionGroup *groups, int count, int argc, char *const *argv,
                         int *i, Mention *mention, Error *error)
{
    const char *word = argv[(*i)++];
    *mention = (Mention){.text = word};
    if (word[0] != '-' || !word[1]) return true;
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    bool taken_back = false;
    const Option *option = NULL;
    if (word[1] == '-') option = find(groups, count, name, length, &mention->values);
    if (word[1] == '-' && !option && !strncmp(name, "no-", 3)) {
        option = find(groups, count, name + 3, length - 3, &mention->values);
        taken_back = true;
    }
    if (option && taken_back && !option_can_take_back(option))
        return error_set(error, "--%s always has a value: there is no '%s'", option->name,
                         word);
    if (!option) {
        char plain[NAME_LIMIT + 1];
        snprintf(plain, sizeof plain, "%.*s", (int)length, name);
        return unknown(groups, count, word, plain, error);
    }
    mention->option = option;
    mention->text = name[length] ? name + length + 1 : NULL;
    if (taken_back && mention->text)
        return error_set(error, "--no-%s takes no value", option->name);
    if (option->kind == OPTION_FLAG && !mention->text)
        mention->text = taken_back ? "false" : "true";
    if (taken_back || mention->text) return true;
    return following(groups, count, option, argc, argv, i, &mention->text, error);
}

static bool mentioned_before(const OptionGroup *groups, int count, int before,
                             char *const *argv, const Option *option)
{
    Mention mention;
    for (int i = 1; i < before;)
        if (read_mention(groups, count, before, argv, &i, &mention, NULL) &&
            mention.option == option)
            return true;
    return false;
}

bool options_parse(const OptionGroup *groups, int count, int argc, char *const *argv,
                   StringList *positional, Error *error)
{
    bool ended = false;  // by "--"
    for (int i = 1; i < argc;) {
        int start = i;
        Mention mention = {.text = argv[i]};
        if (!ended && !strcmp(argv[i], "--")) {
            ended = true;
            i++;
            continue;
        }
        if (ended) i++;
        else if (!read_mention(groups, count, argc, argv, &i, &mention, error)) return false;

        const Option *option = mention.option;
        if (!option) {
            if (!positional) return error_set(error, "unexpected argument '%s'", mention.text);
            if (!strings_add(positional, mention.text, error)) return false;
            continue;
        }
        char label[NAME_LIMIT + 3];
        snprintf(label, sizeof label, "--%s", option->name);
        bool add =
            option->kind == OPTION_LIST && mentioned_before(groups, count, start, argv, option);
        if (!option_store(option, mention.values, label, mention.text, add, error))
            return false;
    }
    return true;
}

const char *options_find_text(const OptionGroup *groups, int count, int argc, char *const *argv,
                              const char *name)
{
    const char *found = NULL;
    Mention mention;
    for (int i = 1; i < argc && strcmp(argv[i], "--");)
        if (read_mention(groups, count, argc, argv, &i, &mention, NULL) && mention.option &&
            !strcmp(mention.option->name, name))
            found = mention.text;
    return found;
}

bool options_set(const OptionGroup *groups, int count, const char *name, const char *text,
                 Error *error)
{
    void *values;
    char label[NAME_LIMIT + 3];
    snprintf(label, sizeof label, "--%s", name);
    const Option *option = find(groups, count, name, strlen(name), &values);
    if (!option) return unknown(groups, count, label, name, error);
    return option_store(option, values, label, text, false, error);
}

/* The words, each with "--" before it, are a command line. */
bool options_set_all(const OptionGroup *groups, int count, const char *settings, Error *error)
{
    StringList words = {0};
    bool good = strings_add(&words, "", error);
    for (const char *s = settings; good && *(s += strspn(s, " \t\n"));) {
        int length = (int)strcspn(s, " \t\n");
        char word[256];
        if (snprintf(word, sizeof word, "--%.*s", length, s) >= (int)sizeof word)
            good = error_set(error, "'%.*s' is too long for a setting", length, s);
        good = good && strings_add(&words, word, error);
        s += length;
    }
    good = good && options_parse(groups, count, words.count, words.item, NULL, error);
    strings_free(&words);
    return good;
}
