/* roff.c -- the option table as roff; see roff.h. */
#include "manual/roff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { WIDTH = 64 };  // before there are escapes in it

/* Returns the code point at *text and advances *text. A byte that is not UTF-8 is a code
 * point. */
static unsigned decode(const char **text)
{
    unsigned code;
    int bytes = utf8_next(*text, &code);
    if (bytes == 1) code = (unsigned char)**text;
    *text += bytes;
    return code;
}

/* Writes a character; literal: as minus and straight quote instead of hyphen and apostrophe. */
static void write_character(FILE *out, unsigned point, bool literal)
{
    switch (point) {
    case '\\': fputs("\\(rs", out); return;
    case '^': fputs("\\(ha", out); return;
    case '~': fputs("\\(ti", out); return;
    case '`': fputs("\\(ga", out); return;
    case '-': fputs(literal ? "\\-" : "-", out); return;
    case '\'': fputs(literal ? "\\(aq" : "'", out); return;
    default: break;
    }
    if (point < 0x80) fputc((int)point, out);
    else fprintf(out, "\\[u%04X]", point);
}

static void write_literal(FILE *out, const char *text, size_t length)
{
    for (const char *s = text; s < text + length;) write_character(out, decode(&s), true);
}

/* The length of the option name "--name" at s; 0 if there is none. */
static size_t option_here(const char *s)
{
    if (strncmp(s, "--", 2) || !islower((unsigned char)s[2])) return 0;
    size_t length = 2 + strspn(s + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
    while (s[length - 1] == '-') length--;
    return length;
}

/* Whether a word is code: it has a digit, or punctuation inside. */
static bool is_literal(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (isdigit((unsigned char)word[i])) return true;
        if (strchr("./=_<|", word[i]) && i + 1 < length && isalnum((unsigned char)word[i + 1]))
            return true;
    }
    return false;
}

/* Hyphens and apostrophes are those between two letters of a word that is not code. */
static void write_word(FILE *out, const char *word, size_t length)
{
    bool literal = is_literal(word, length);
    for (const char *s = word; s < word + length;) {
        size_t option = s == word || !isalnum((unsigned char)s[-1]) ? option_here(s) : 0;
        if (option) {
            fputs("\\fB", out);
            write_literal(out, s, option);
            fputs("\\fR", out);
            s += option;
        } else {
            bool between =
                s > word && isalpha((unsigned char)s[-1]) && isalpha((unsigned char)s[1]);
            write_character(out, decode(&s), literal || !between);
        }
    }
}

/* A line of roff must not begin with a control character, and must not end with a full stop
 * that ends no sentence ("Wu et al."). Lines are wrapped. */
void manual_text(FILE *out, const char *text)
{
    size_t column = 0;
    char last = ' ';  // of the word before
    for (const char *s = text + strspn(text, " \n"); *s;) {
        size_t length = strcspn(s, " \n");
        if (column && column + 1 + length > WIDTH) {
            bool stops = last == '.' || last == '?' || last == '!';
            fputs(stops && !isupper((unsigned char)*s) ? "\\&\n" : "\n", out);
            column = 0;
        }
        if (column) fputc(' ', out);
        else if (*s == '.' || *s == '\'') fputs("\\&", out);
        write_word(out, s, length);
        last = s[length - 1];
        column += length + 1;
        s += length + strspn(s + length, " \n");
    }
    fputc('\n', out);
}

/* Placeholders such as FILE and N are italic; literal text such as mean and .png is bold. */
static void write_argument(FILE *out, const char *text)
{
    while (*text) {
        size_t stands = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        size_t length = stands ? stands : strcspn(text, "|,ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length) {
            fputs(stands ? "\\fI" : "\\fB", out);
            write_literal(out, text, length);
            fputs("\\fR", out);
        } else {
            fputc(*text, out);
            length = 1;
        }
        text += length;
    }
}

/* "-q, --quiet" and "--heads N": the names in bold, brackets and what follows them not. */
static void write_usage(FILE *out, const char *usage)
{
    size_t length = strcspn(usage, ", ");
    fputs("\\fB", out);
    write_literal(out, usage, length);
    fputs("\\fR", out);
    if (usage[length] == ',') {
        fputs(", ", out);
        write_usage(out, usage + length + 2);
        return;
    }
    if (usage[length]) {
        fputc(' ', out);
        write_argument(out, usage + length + 1);
    }
    fputc('\n', out);
}

static bool write_option(FILE *out, const OptionGroup *group, const Option *option)
{
    char *usage, *meaning;
    bool good = option_columns(&usage, &meaning, group, option, false);
    if (good) {
        fputs(".TP\n", out);
        write_usage(out, usage);
        manual_text(out, meaning);
    }
    free(usage);
    free(meaning);
    return good;
}

bool manual_options(FILE *out, const OptionGroup *groups, int count)
{
    bool good = true;
    for (OptionPlace p = {0}; good && options_next(&p, groups, count);) {
        if (p.begins) fputs(".SS ", out), manual_text(out, p.title);
        good = write_option(out, p.group, p.option);
    }
    return good;
}
