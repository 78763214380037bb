/* options-help.c -- the help text, composed from the table; see options.h.
 *
 *     Model
 *       --d-model N            width of the network (1 to 8192; default 512)
 *       --[no-]output-bias     learn a bias for every word (default on)
 *
 * The right column is wrapped at 92 characters. In the short help it ends with its first phrase. */
#include "base/columns.h"
#include "base/json.h"
#include "base/options.h"
#include "base/textstream.h"

enum { WIDTH = 92, LEFT_LIMIT = 34 };

/* "--heads N", as it stands in the left column. */
static void write_usage(FILE *out, const OptionGroup *group, const Option *option)
{
    char letter = option_letter(option);
    if (letter) fprintf(out, "-%c%s", letter, option->name[1] ? ", " : "");
    if (!option->name[1]) return;
    if (option->kind == OPTION_FLAG) {
        bool on = ((const char *)group->values)[option->offset];
        fprintf(out, "--%s%s", on ? "[no-]" : "", option->name);
        return;
    }
    fprintf(out, "--%s ", option->name);
    if (option->argument) fputs(option->argument, out);
    else if (option->kind == OPTION_REAL) fputc('X', out);
    else if (option->kind == OPTION_CHOICE)
        for (int i = 0; option->choices[i]; i++)
            fprintf(out, "%s%s", i ? "|" : "", option->choices[i]);
    else fputs(option->kind == OPTION_INT || option->kind == OPTION_UINT64 ? "N" : "TEXT", out);
}

/* Its help and " (1 to 64; default 8)": the range and the default, if the option has them. */
static void write_meaning(FILE *out, const OptionGroup *group, const Option *option)
{
    const void *field = (const char *)group->values + option->offset;
    char range[RANGE_TEXT], number[REAL_TEXT];
    fputs(option->help ? option->help : "", out);
    switch (option->kind) {
    case OPTION_FLAG:
        if (*(const bool *)field) fputs(" (default on)", out);
        return;
    case OPTION_TEXT:
        if (*(char *const *)field) fprintf(out, " (default %s)", *(char *const *)field);
        return;
    case OPTION_LIST: fputs(" (may be repeated)", out); return;
    case OPTION_CHOICE:
        fputs(" (", out);
        if (option->argument) {  // then the left column does not show them
            for (int i = 0; option->choices[i]; i++)
                fprintf(out, "%s%s", i ? ", " : "", option->choices[i]);
            fputs("; ", out);
        }
        fprintf(out, "default %s)", option->choices[*(const int *)field]);
        return;
    case OPTION_INT: snprintf(number, sizeof number, "%d", *(const int *)field); break;
    case OPTION_UINT64:
        snprintf(number, sizeof number, "%" PRIu64, *(const uint64_t *)field);
        break;
    case OPTION_REAL: real_text(number, *(const double *)field); break;
    }
    bool limited = option->kind != OPTION_UINT64 && option_range(range, option);
    fprintf(out, " (%s%sdefault %s)", limited ? range : "", limited ? "; " : "", number);
}

/* The first phrase of its help, without "with --sample: "; it ends at a colon, a semicolon or a full
 * stop. */
static void write_phrase(FILE *out, const Option *option)
{
    const char *begin = option->help + option_with(option), *s = begin;
    while (*s && !strchr(":;", *s) && (strncmp(s, ". ", 2) || !isupper((unsigned char)s[2])))
        s++;
    fwrite(begin, 1, (size_t)(s - begin), out);
}

bool option_columns(char **usage, char **meaning, const OptionGroup *group,
                    const Option *option, bool brief)
{
    TextStream left, right;
    if (textstream_open(&left)) write_usage(left.out, group, option);
    if (textstream_open(&right))
        brief ? write_phrase(right.out, option) : write_meaning(right.out, group, option);
    *usage = textstream_close(&left);
    *meaning = textstream_close(&right);
    return *usage && *meaning;
}

/* Writes an option's lines, or if out is NULL widens *left, the left column, for it. */
static bool put_option(FILE *out, int *left, const OptionPlace *place, bool brief)
{
    const Option *option = place->option;
    char *usage, *help;
    bool good = option_columns(&usage, &help, place->group, option, brief);
    int width = good ? columns_width(usage) : 0, needs = width + 4;
    if (!out && needs > *left && needs <= LEFT_LIMIT) *left = needs;
    if (good && out) {
        bool below = needs > *left;
        fprintf(out, "  %s%s", usage, below ? "\n" : "");
        columns_wrap(out, help, below ? *left : *left - width - 2, *left, WIDTH);
    }
    free(usage);
    free(help);
    return good;
}

char *options_help(const OptionGroup *groups, int count, bool brief)
{
    TextStream stream;
    bool good = textstream_open(&stream);
    for (int left = 0, writes = 0; writes < 2; writes++)
        for (OptionPlace p = {0}; good && options_next(&p, groups, count);) {
            if (brief && !(p.option->flags & OPTION_COMMON)) continue;
            if (writes && p.begins && !brief)
                fprintf(stream.out, "%s%s\n", ftell(stream.out) ? "\n" : "", p.title);
            good = put_option(writes ? stream.out : NULL, &left, &p, brief);
        }
    char *text = textstream_close(&stream);
    if (good) return text;
    free(text);
    return NULL;
}
