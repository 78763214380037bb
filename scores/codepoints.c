/* codepoints.c -- a sentence as Unicode code points.
 *
 * Categories and the case of single letters come from GLib's tables. Python differs from GLib
 * in four points, and this file follows Python:
 *
 *   U+0130  İ  becomes two code points, i and U+0307 (SpecialCasing.txt). g_unichar_tolower
 *              gives i alone.
 *   U+03A3  Σ  becomes ς at the end of a word and σ elsewhere. Unicode 14, section 3.13, table
 *              3-17, Final_Sigma: it follows a cased character and does not precede one; any
 *              case-ignorable characters between are skipped. g_utf8_strdown tests only the
 *              next character, so that a Σ alone becomes ς.
 *   Ⅰ…Ⅿ Ⓐ…Ⓩ   become ⅰ…ⅿ and ⓐ…ⓩ, though they are not letters: U+2160 to U+216F and
 *              U+24B6 to U+24CF. g_unichar_tolower does not change them.
 *   spaces     U+0085 and the separators U+001C to U+001F split words too; U+200B does not.
 *
 * A character that is both cased and case-ignorable (U+02B0, U+0345) is skipped. "Cased"
 * therefore only has to be right for the others: Lu, Ll, Lt and the letter-like ones of
 * DerivedCoreProperties.txt. */
#include "scores/codepoints.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

uint32_t *codepoints_reserve(int length, Error *error)
{
    uint32_t *at = malloc(((size_t)length + 1) * sizeof *at);
    if (!at) error_memory(error, "for a sentence of %d characters", length);
    return at;
}

bool codepoints_read(Codepoints *text, const char *utf8, Error *error)
{
    *text = (Codepoints){0};
    size_t bytes = strnlen(utf8, (size_t)CODEPOINTS_LIMIT + 1);
    if (bytes > CODEPOINTS_LIMIT)
        return error_set(error, "a sentence of more than %d bytes is too long to score",
                         CODEPOINTS_LIMIT);
    const char *end;
    if (!g_utf8_validate(utf8, (gssize)bytes, &end))
        return error_set(error, "not valid UTF-8 at byte %td of the sentence", end - utf8 + 1);

    text->at = codepoints_reserve((int)bytes, error);
    if (!text->at) return false;
    for (const char *p = utf8; p < end; p = g_utf8_next_char(p))
        text->at[text->length++] = g_utf8_get_char(p);
    return true;
}

bool codepoints_read_pair(Codepoints pair[2], const char *hypothesis, const char *reference,
                          bool lowercase, Error *error)
{
    const char *const utf8[] = {hypothesis, reference};
    pair[0] = pair[1] = (Codepoints){0};
    for (int i = 0; i < 2; i++)
        if (!codepoints_read(&pair[i], utf8[i], error) ||
            (lowercase && !codepoints_lower(&pair[i], error))) {
            codepoints_free(&pair[0]);
            codepoints_free(&pair[1]);
            return error_prefix(error, i ? "reference" : "hypothesis");
        }
    return true;
}

void codepoints_free(Codepoints *text)
{
    free(text->at);
    *text = (Codepoints){0};
}

bool codepoints_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Sets of general categories, one bit for each. */
#define IN(category) (1u << G_UNICODE_##category)
enum {
    SYMBOLS = IN(MATH_SYMBOL) | IN(CURRENCY_SYMBOL) | IN(MODIFIER_SYMBOL) | IN(OTHER_SYMBOL),
    NUMBERS = IN(DECIMAL_NUMBER) | IN(LETTER_NUMBER) | IN(OTHER_NUMBER),
    CASED = IN(LOWERCASE_LETTER) | IN(UPPERCASE_LETTER) | IN(TITLECASE_LETTER),
    CASE_IGNORABLE = IN(NON_SPACING_MARK) | IN(ENCLOSING_MARK) | IN(FORMAT) |
                     IN(MODIFIER_LETTER) | IN(MODIFIER_SYMBOL)
};

static bool is_in(uint32_t c, unsigned categories)
{
    return categories >> g_unichar_type(c) & 1;
}

bool codepoints_is_punctuation(uint32_t c)
{
    return g_unichar_ispunct(c) && !is_in(c, SYMBOLS);
}

bool codepoints_is_symbol(uint32_t c)
{
    return is_in(c, SYMBOLS);
}

bool codepoints_is_number(uint32_t c)
{
    return is_in(c, NUMBERS);
}

/* Case_Ignorable: the categories above, and the characters that may stand inside a word
 * (Word_Break MidLetter, MidNumLet and Single_Quote). */
static bool is_case_ignorable(uint32_t c)
{
    static const uint32_t inside_words[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                            0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                            0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
    for (size_t i = 0; i < sizeof inside_words / sizeof *inside_words; i++)
        if (c == inside_words[i]) return true;
    return is_in(c, CASE_IGNORABLE);
}

static bool is_cased(uint32_t c)
{
    return is_in(c, CASED) || c == 0xAA || c == 0xBA ||  // ordinal indicators
           (c >= 0x2160 && c <= 0x217F) ||               // Roman numerals
           (c >= 0x24B6 && c <= 0x24E9) ||               // letters in circles
           (c >= 0x1F130 && c <= 0x1F149) ||             // and in squares
           (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

static bool is_final_sigma(const Codepoints *text, int i)
{
    int before = i - 1, after = i + 1;
    while (before >= 0 && is_case_ignorable(text->at[before])) before--;
    while (after < text->length && is_case_ignorable(text->at[after])) after++;
    return before >= 0 && is_cased(text->at[before]) &&
           !(after < text->length && is_cased(text->at[after]));
}

static uint32_t simple_lower(uint32_t c)
{
    if (c >= 0x2160 && c <= 0x216F) return c + 0x10;
    if (c >= 0x24B6 && c <= 0x24CF) return c + 0x1A;
    return g_unichar_tolower(c);
}

bool codepoints_lower(Codepoints *text, Error *error)
{
    int length = text->length;
    for (int i = 0; i < text->length; i++) length += text->at[i] == 0x130;
    uint32_t *lower = codepoints_reserve(length, error);
    if (!lower) return false;

    int n = 0;
    for (int i = 0; i < text->length; i++) {
        uint32_t c = text->at[i];
        if (c == 0x130) lower[n++] = 'i', lower[n++] = 0x307;
        else if (c == 0x3A3) lower[n++] = is_final_sigma(text, i) ? 0x3C2 : 0x3C3;
        else lower[n++] = simple_lower(c);
    }
    free(text->at);
    *text = (Codepoints){lower, n};
    return true;
}
