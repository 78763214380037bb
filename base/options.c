/* options.c -- checks and stores the text of an option, and reads a command line; see
 * options.h. options-help.c has the help, options-json.c config.json. */
#include "base/options.h"
#include "base/json.h"
#include "base/real.h"

/* ---- lists of texts ---- */

bool strings_add(StringList *list, const char *text, Error *error)
{
    char **item = realloc(list->item, sizeof *item * ((size_t)list->count + 1));
    if (item) list->item = item;
    char *copy = item ? strdup(text) : NULL;
    if (!copy) return error_memory(error, "for a list of texts");
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

enum { WANTED_TEXT = 512 };

bool option_range(char text[RANGE_TEXT], const Option *option)
{
    double least = option->least, most = option->most;
    char from[REAL_TEXT], to[REAL_TEXT];
    bool limited = least != 0 || most != 0, whole = option->kind != OPTION_REAL;
    snprintf(from, sizeof from, "%.0f", least);
    snprintf(to, sizeof to, "%.0f", most);
    if (!whole) real_text(from, least), real_text(to, most);
    double highest = !whole ? INFINITY : option->kind == OPTION_INT ? INT_MAX : 0x1p63;
    if (!limited) snprintf(text, RANGE_TEXT, "0 to %lld", (long long)INT64_MAX);
    else if (most >= highest) snprintf(text, RANGE_TEXT, "%s up", from);
    else snprintf(text, RANGE_TEXT, "%s to %s", from, to);
    return limited || option->kind == OPTION_UINT64;
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

/* Digits, sign, point and exponent only: strtod alone would take "nan", "inf", "0x1p3", "
 * 1". */
static bool read_number(double *number, const char *text, const Option *option)
{
    char *end;
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) return false;
    *number = strtod(text, &end);
    if (*end || !isfinite(*number)) return false;
    return (option->least == 0 && option->most == 0) ||
           (*number >= option->least && *number <= option->most);
}

static bool read_whole(long long *whole, const char *text, const Option *option)
{
    char *end;
    double number;
    if (strspn(text, "0123456789-") != strlen(text)) return false;
    errno = 0;
    *whole = strtoll(text, &end, 10);
    return !errno && !*end && read_number(&number, text, option);
}

bool option_store(const Option *option, void *values, const char *label, const char *text,
                  Error *error)
{
    void *field = (char *)values + option->offset;
    long long whole;
    double number;
    int choice = 0;
    char *copy;
    bool list = option->kind == OPTION_LIST;
    assert(text || option->kind == OPTION_TEXT || list);
    switch (option->kind) {
    case OPTION_FLAG:
        if (strcmp(text, "true") && strcmp(text, "false")) break;
        *(bool *)field = !strcmp(text, "true");
        return true;
    case OPTION_INT:
        if (!read_whole(&whole, text, option) || whole < INT_MIN || whole > INT_MAX) break;
        *(int *)field = (int)whole;
        return true;
    case OPTION_UINT64:
        if (!read_whole(&whole, text, option) || whole < 0) break;
        *(uint64_t *)field = (uint64_t)whole;
        return true;
    case OPTION_REAL:
        if (!read_number(&number, text, option)) break;
        *(double *)field = number;
        return true;
    case OPTION_CHOICE:
        while (option->choices[choice] && strcmp(option->choices[choice], text)) choice++;
        if (!option->choices[choice]) break;
        *(int *)field = choice;
        return true;
    case OPTION_TEXT:
    case OPTION_LIST:
        if (text && !*text) break;
        if (list && text) return strings_add(field, text, error);
        if (list) return strings_free(field), true;
        copy = text ? strdup(text) : NULL;
        if (text && !copy) return error_memory(error, "for the options");
        free(*(char **)field);
        *(char **)field = copy;
        return true;
    }
    char wanted[WANTED_TEXT];
    describe(wanted, sizeof wanted, option);
    return error_set(error, "%s takes %s, not '%s'", label, wanted, text);
}

void options_free(const OptionGroup *groups, int count)
{
    for (OptionPlace p = {0}; options_next(&p, groups, count);)
        if (p.option->kind == OPTION_TEXT || p.option->kind == OPTION_LIST)
            option_store(p.option, p.group->values, p.option->name, NULL, NULL);
}

/* ---- finding an option by its name ---- */

bool options_next(OptionPlace *p, const OptionGroup *groups, int count)
{
    for (; p->pass < 2; p->pass++, p->g = 0)
        for (; p->g < count; p->g++, p->i = 0)
            while (p->i < groups[p->g].count) {
                p->group = &groups[p->g];
                p->option = &p->group->options[p->i++];
                bool expert = p->option->flags & OPTION_EXPERT;
                if (p->option->flags & OPTION_REMOVED || expert != (p->pass == 1)) continue;
                const char *title = expert ? "Expert" : p->group->title;
                p->begins = title != p->title;
                p->title = title;
                return true;
            }
    return false;
}

int option_with(const Option *option)
{
    const char *help = option->help;
    return help && !strncmp(help, "with --", 7) ? (int)strcspn(help, ":") + 2 : 0;
}

char option_letter(const Option *option)
{
    return option->flags & OPTION_LETTER || !option->name[1] ? option->name[0] : 0;
}

/* The option --NAME, or with length 1 the one of this letter; without an option if there is none. */
static OptionPlace find(const OptionGroup *groups, int count, const char *name, size_t length)
{
    for (OptionPlace p = {0}; options_next(&p, groups, count);) {
        const char *own = p.option->name;
        if (length == 1 ? option_letter(p.option) == *name
                        : !strncmp(own, name, length) && !own[length])
            return p;
    }
    return (OptionPlace){0};
}

/* The edit distance of Damerau 1964: letters to insert, delete, replace, or swap with their
 * neighbour to get from a to b, where no part is edited twice. */
enum { NAME_LIMIT = 48 };

static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int d[NAME_LIMIT + 1][NAME_LIMIT + 1];
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            d[i][j] = i + j;
            if (i == 0 || j == 0) continue;
            d[i][j] = at_most(at_most(d[i - 1][j], d[i][j - 1]) + 1,
                              d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = at_most(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

/* Suggests the nearest name: up to a quarter of the letters differ, or the word is its beginning. On
 * the command line the name gets dashes, and `no-` if the word has it. */
static bool unknown(const OptionGroup *groups, int count, const char *word, bool line,
                    Error *error)
{
    char typed[NAME_LIMIT + 1];
    int length = (int)strcspn(word, "="), dashes = (int)strspn(word, "-");
    snprintf(typed, sizeof typed, "%.*s", length - dashes, word + dashes);
    for (char *s = typed; *s; s++)
        if (*s == '_') *s = '-';
    const char *no = strncmp(typed, "no-", 3) ? "" : "no-", *name = typed + strlen(no);
    const char *nearest = NULL;
    int letters = (int)strlen(name), least = (letters + 1) / 4 + (letters > 1);
    if (letters == 1) least = 0;
    for (OptionPlace p = {0}; options_next(&p, groups, count);) {
        const char *other = p.option->name;
        bool beginning = letters >= 3 && !strncmp(name, other, (size_t)letters);
        int edits = beginning ? 1 : distance(name, other);
        if (edits < least) least = edits, nearest = other;
    }
    if (!nearest)
        return error_set(error, "unknown option '%.*s'%s", length, word,
                         line ? ": see --help" : "");
    return error_set(error, "unknown option '%.*s': did you mean '%s%s%s'?", length, word,
                     line ? "--" : "", line ? no : "", nearest);
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
        const char *plain = strncmp(name, "no-", 3) ? name : name + 3;
        s = name + length + 1;
        bool option = find(groups, count, name, strcspn(name, " =`")).option ||
                      find(groups, count, plain, strcspn(plain, " =`")).option;
        memmove(out + 2 * option, name, length);
        if (option) memcpy(out, "--", 2);
        out += length + 2 * option;
    }
    *out = 0;
}

/* ---- the command line ---- */

typedef struct ArgumentReader {
    const OptionGroup *groups;
    int count;
    int argc;
    char *const *argv;
    int next;    // the next word
    bool ended;  // by "--": no more options
} ArgumentReader;

typedef struct Mention {
    OptionPlace place;  // of the option; its option is NULL if the word is an argument
    const char *text;   // NULL: taken back by --no-NAME
} Mention;

/* Whether there is another word; passes over the "--". */
static bool more(ArgumentReader *r)
{
    if (!r->ended && r->next < r->argc && !strcmp(r->argv[r->next], "--")) {
        r->ended = true;
        r->next++;
    }
    return r->next < r->argc;
}

/* *mention (=) the next word, and the one after it if that is its value. */
static bool read_mention(ArgumentReader *r, Mention *mention, Error *error)
{
    const char *word = r->argv[r->next++];
    *mention = (Mention){.text = word};
    if (r->ended || word[0] != '-' || !word[1]) return true;
    bool dashes = word[1] == '-', no = false;
    const char *name = word + 1 + dashes;
    size_t length = strcspn(name, "=");
    if (dashes == (length > 1)) mention->place = find(r->groups, r->count, name, length);
    if (dashes && !mention->place.option && !strncmp(name, "no-", 3)) {
        mention->place = find(r->groups, r->count, name + 3, length - 3);
        no = true;
    }
    const Option *option = mention->place.option;
    if (!option) return unknown(r->groups, r->count, word, true, error);
    OptionKind kind = option->kind;
    if (no &&
        !(kind == OPTION_FLAG ? option->name[1] : kind == OPTION_TEXT || kind == OPTION_LIST))
        return error_set(error, "--%s always has a value: there is no '%s'", option->name,
                         word);
    mention->text = name[length] ? name + length + 1 : NULL;
    if (no && mention->text) return error_set(error, "--no-%s takes no value", option->name);
    if (kind == OPTION_FLAG && !mention->text) mention->text = no ? "false" : "true";
    if (no || mention->text) return true;
    char wanted[WANTED_TEXT];
    describe(wanted, sizeof wanted, option);
    if (r->next >= r->argc)
        return error_set(error, "--%s takes %s, but nothing follows it", option->name, wanted);
    const char *text = mention->text = r->argv[r->next++];
    bool follows = !strncmp(text, "--", 2) &&
                   find(r->groups, r->count, text + 2, strcspn(text + 2, "=")).option;
    return !follows ||
           error_set(error, "--%s takes %s, but '%s' follows it", option->name, wanted, text);
}

static bool is_set(const OptionPlace *place)
{
    const void *field = (const char *)place->group->values + place->option->offset;
    return place->option->kind == OPTION_FLAG   ? *(const bool *)field
           : place->option->kind == OPTION_LIST ? ((const StringList *)field)->count > 0
                                                : *(char *const *)field != NULL;
}

/* Whether one of the options is set that the option's help says it goes with. */
static bool check_with(const OptionGroup *groups, int count, const Option *option, Error *error)
{
    const int length = option_with(option) - (int)strlen("with : ");
    if (length < 0) return true;
    const char *with = option->help + strlen("with "), *name = with;
    while ((name = strstr(name, "--")) && name < with + length) {
        name += 2;
        OptionPlace other = find(groups, count, name, strcspn(name, " ,:"));
        if (other.option && is_set(&other)) return true;
    }
    return error_set(error, "--%s goes with %.*s: give that, too, or leave it out",
                     option->name, length, with);
}

bool options_parse(const OptionGroup *groups, int count, int argc, char *const *argv,
                   StringList *positional, Error *error)
{
    Mention mention;
    ArgumentReader reader = {groups, count, argc, argv, .next = 1};
    while (more(&reader)) {
        int place = reader.next;
        if (!read_mention(&reader, &mention, error)) return false;
        const Option *option = mention.place.option;
        if (!option) {
            if (!positional) return error_set(error, "unexpected argument '%s'", mention.text);
            if (!strings_add(positional, mention.text, error)) return false;
            continue;
        }
        char label[NAME_LIMIT + 3];
        void *values = mention.place.group->values;
        const char *before = options_find_text(groups, count, place, argv, option->name);
        bool list = option->kind == OPTION_LIST, once = !list && option->kind != OPTION_FLAG;
        if (before && mention.text && once)
            return error_set(error, "--%s takes one value, but is given two: '%s' and '%s'",
                             option->name, before, mention.text);
        snprintf(label, sizeof label, "--%s", option->name);
        if (list && !before) option_store(option, values, label, NULL, NULL);  // begins empty
        if (!option_store(option, values, label, mention.text, error)) return false;
    }
    reader = (ArgumentReader){groups, count, argc, argv, .next = 1};
    while (more(&reader))
        if (read_mention(&reader, &mention, NULL) && mention.place.option && mention.text &&
            !check_with(groups, count, mention.place.option, error))
            return false;
    return true;
}

const char *options_find_text(const OptionGroup *groups, int count, int argc, char *const *argv,
                              const char *name)
{
    const char *found = NULL;
    Mention mention;
    ArgumentReader reader = {groups, count, argc, argv, .next = 1};
    while (more(&reader) && !reader.ended)
        if (read_mention(&reader, &mention, NULL) && mention.place.option &&
            !strcmp(mention.place.option->name, name))
            found = mention.text;
    return found;
}

bool options_set(const OptionGroup *groups, int count, const char *name, const char *text,
                 Error *error)
{
    OptionPlace p = find(groups, count, name, strlen(name));
    char label[NAME_LIMIT + 3];
    snprintf(label, sizeof label, "`%s`", name);
    if (!p.option) return unknown(groups, count, name, false, error);
    if (p.option->kind == OPTION_LIST)
        option_store(p.option, p.group->values, label, NULL, NULL);
    return option_store(p.option, p.group->values, label, text, error);
}
