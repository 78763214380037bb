/* tokenization.c -- the rules of mteval-v13a and mteval-v14, each as a table.
 *
 * Source: NIST's mteval-v13a.pl and mteval-v14.pl (in Moses, scripts/generic), the first with
 * its default language-dependent part, the second with --international-tokenization; and Post
 * 2018 (arXiv 1804.08771), whose sacrebleu made both the reference and whose order of steps
 * this is.
 *
 * First, in all of them, white space at the end is removed. It decides a case in `intl`, below.
 *
 * 13a   1. "<skipped>" is removed.
 *       2. A hyphen at the end of a line is removed with the newline. Any other newline becomes
 *          a space.
 *       3. &quot; &amp; &lt; &gt; become " & < >, one after the other: &amp;lt; becomes <.
 *       4. A space is added at both ends, so that every character has neighbours.
 *       5. Each ASCII punctuation character except ' , - . is a word.
 *       6. A period or comma is a word unless it follows a digit 0-9 ...
 *       7. ... and also then, unless it precedes a digit: "3.5" stays, "5." is split.
 *       8. A hyphen is a word if it follows a digit.
 * intl  1. Punctuation (P*) is a word unless it follows a number (N*) ...
 *       2. ... and also then, unless it precedes a number.
 *       3. A symbol (S*) is a word.
 *       A rule about a neighbour does not match without one: in "in 2010." the period stays
 *       with the year, and only rule 2 splits off punctuation at the beginning of a line.
 * char  1. Every character is a word.
 * none  Nothing.
 *
 * Each rule goes over the whole text, from left to right, before the next one begins. It does
 * not test the characters of a match again. This makes a difference for rules such as 13a 6 and
 * 7 in runs like "1,.2", so the rules are applied one by one and not merged. */
#include "scores/tokenization.h"

#include <stdlib.h>
#include <string.h>

typedef enum CharacterClass {
    NO_CHARACTER,
    ANY,
    DIGIT,
    NOT_DIGIT,
    HYPHEN,
    PERIOD_OR_COMMA,
    ASCII_PUNCTUATION,  // except ' , - .
    PUNCTUATION,
    SYMBOL,
    NOT_NUMBER
} CharacterClass;

// clang-format off
static bool is(CharacterClass class, uint32_t c)
{
    bool digit = c >= '0' && c <= '9', letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    switch (class) {
    case NO_CHARACTER:      return false;
    case ANY:               return true;
    case DIGIT:             return digit;
    case NOT_DIGIT:         return !digit;
    case HYPHEN:            return c == '-';
    case PERIOD_OR_COMMA:   return c == '.' || c == ',';
    case ASCII_PUNCTUATION: return c > ' ' && c < 0x7F && !digit && !letter &&
                                   c != '\'' && c != ',' && c != '-' && c != '.';
    case PUNCTUATION:       return codepoints_is_punctuation(c);
    case SYMBOL:            return codepoints_is_symbol(c);
    case NOT_NUMBER:        return !codepoints_is_number(c);
    }
    return false;
}

/* If a character is of class `first` and the next one of class `second`, one of the two becomes
 * a word: it gets a space on either side. ISOLATE_ONE tests a single character with
 * `second`. */
typedef struct Rule {
    CharacterClass first, second;
    enum { ISOLATE_ONE, ISOLATE_FIRST, ISOLATE_SECOND } isolate;
} Rule;

static const Rule rules_13a[] = {
    {NO_CHARACTER,    ASCII_PUNCTUATION, ISOLATE_ONE},
    {NOT_DIGIT,       PERIOD_OR_COMMA,   ISOLATE_SECOND},
    {PERIOD_OR_COMMA, NOT_DIGIT,         ISOLATE_FIRST},
    {DIGIT,           HYPHEN,            ISOLATE_SECOND},
    {0},
};
static const Rule rules_intl[] = {
    {NOT_NUMBER,   PUNCTUATION, ISOLATE_SECOND},
    {PUNCTUATION,  NOT_NUMBER,  ISOLATE_FIRST},
    {NO_CHARACTER, SYMBOL,      ISOLATE_ONE},
    {0},
};
static const Rule rules_char[] = {{NO_CHARACTER, ANY, ISOLATE_ONE}, {0}};
static const Rule rules_none[] = {{0}};

static const Rule *const rules[] = {
    [TOKENIZATION_13A]  = rules_13a,
    [TOKENIZATION_NONE] = rules_none,
    [TOKENIZATION_CHAR] = rules_char,
    [TOKENIZATION_INTL] = rules_intl,
};

const char *const tokenization_names[] = {
    [TOKENIZATION_13A]  = "13a",
    [TOKENIZATION_NONE] = "none",
    [TOKENIZATION_CHAR] = "char",
    [TOKENIZATION_INTL] = "intl",
    NULL,
};
// clang-format on

static bool rule_apply(const Rule *rule, Codepoints *text, Error *error)
{
    uint32_t *out = codepoints_reserve(3 * text->length, error);  // at most 3 for each
    if (!out) return false;
    int n = 0;
    for (int i = 0; i < text->length; i++) {
        uint32_t c = text->at[i];
        bool match = rule->isolate == ISOLATE_ONE
                         ? is(rule->second, c)
                         : i + 1 < text->length && is(rule->first, c) &&
                               is(rule->second, text->at[i + 1]);
        if (match && rule->isolate == ISOLATE_SECOND) out[n++] = c, c = text->at[++i];
        if (match) out[n++] = ' ';
        out[n++] = c;
        if (match) out[n++] = ' ';
        if (match && rule->isolate == ISOLATE_FIRST) out[n++] = text->at[++i];
    }
    free(text->at);
    *text = (Codepoints){out, n};
    return true;
}

/* Replaces `from`, from left to right, by `to`, which is not longer. */
static void replace(Codepoints *text, const char *from, const char *to)
{
    int length = (int)strlen(from), n = 0;
    for (int i = 0; i < text->length;) {
        int same = 0;
        while (same < length && i + same < text->length &&
               text->at[i + same] == (unsigned char)from[same])
            same++;
        if (same < length) {
            text->at[n++] = text->at[i++];
        } else {
            for (const char *c = to; *c; c++) text->at[n++] = (unsigned char)*c;
            i += length;
        }
    }
    text->length = n;
}

/* Steps 1 to 4 of 13a. */
static bool prepare_13a(Codepoints *text, Error *error)
{
    static const char *const replacements[][2] = {
        {"<skipped>", ""}, {"-\n", ""},   {"\n", " "},  {"&quot;", "\""},
        {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"}};
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++)
        replace(text, replacements[i][0], replacements[i][1]);

    uint32_t *padded = codepoints_reserve(text->length + 2, error);
    if (!padded) return false;
    padded[0] = ' ';
    memcpy(padded + 1, text->at, (size_t)text->length * sizeof *padded);
    padded[text->length + 1] = ' ';
    free(text->at);
    *text = (Codepoints){padded, text->length + 2};
    return true;
}

bool tokenization_apply(Codepoints *text, Tokenization tokenization, Error *error)
{
    while (text->length > 0 && codepoints_is_space(text->at[text->length - 1])) text->length--;
    if (tokenization == TOKENIZATION_13A && !prepare_13a(text, error)) return false;
    for (const Rule *rule = rules[tokenization]; rule->second; rule++)
        if (!rule_apply(rule, text, error)) return false;
    return true;
}
