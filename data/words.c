/* words.c -- where the words of a text are; see words.h. */
#include "data/words.h"

#include "base/utf8.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unum.h>
#include <unicode/uregex.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

static int line_break(unsigned code)
{
    return u_getIntPropertyValue((UChar32)code, UCHAR_LINE_BREAK);
}

/* Whether it is a character of the words of Chinese or Japanese. */
static bool is_east_asian(unsigned code)
{
    UErrorCode status = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript((UChar32)code, &status);
    return line_break(code) == U_LB_CONDITIONAL_JAPANESE_STARTER || script == USCRIPT_HAN ||
           script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
}

bool words_unspaced(unsigned code)
{
    return line_break(code) == U_LB_COMPLEX_CONTEXT || is_east_asian(code);
}

bool words_spaceless(unsigned code)
{
    return is_east_asian(code) || (code >= 0x3000 && code < 0x3040) ||
           (code >= 0xFF00 && code < 0xFF70);
}

bool words_opening(unsigned code)
{
    return U_GET_GC_MASK((UChar32)code) & (U_GC_PS_MASK | U_GC_PI_MASK | U_GC_NO_MASK);
}

bool words_letter(unsigned code)
{
    return u_isalnum((UChar32)code) && !words_unspaced(code);
}

bool words_has_letter(const char *text, size_t length)
{
    UChar32 c = 0;
    for (size_t at = 0; at < length && !u_isalpha(c);) U8_NEXT(text, at, length, c);
    return u_isalpha(c);
}

bool words_listed(const char *list, const char *word, size_t length)
{
    static const char spaces[] = " \t\n\f\r";
    while (*(list += strspn(list, spaces))) {
        size_t count = strcspn(list, spaces);
        if (count == length && !memcmp(list, word, length)) return true;
        list += count;
    }
    return false;
}

bool words_right_to_left(const char *text)
{
    int direction = U_OTHER_NEUTRAL;
    for (unsigned code; *text && direction != U_LEFT_TO_RIGHT;) {
        text += utf8_next(text, &code);
        direction = u_charDirection((UChar32)code);
        if (direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC) return true;
    }
    return false;
}

void spacing_add(Spacing *spacing, const char *text, size_t length)
{
    bool last = false, space = false;  // the last letter was without spaces; and a space since
    for (size_t at = 0, bytes; at < length; at += bytes) {
        UErrorCode status = U_ZERO_ERROR;
        unsigned code;
        bytes = (size_t)utf8_decode(text + at, length - at, &code);
        bool unspaced =
            code >= 0x80 && (words_unspaced(code) ||
                             uscript_getScript((UChar32)code, &status) == USCRIPT_TIBETAN);
        if (unspaced || u_isalpha((UChar32)code)) spacing->letters += bytes;
        if (unspaced) spacing->unspaced += bytes;
        if (unspaced && uscript_getScript((UChar32)code, &status) == USCRIPT_HAN)
            spacing->han += bytes;
        spacing->spaces += unspaced && last && space;
        space = code == ' ';
        last = unspaced || (space && last);
    }
}

/* begins [length], zeroed (=) whether a word of a script without spaces begins there, or ends */
static bool mark_breaks(int *begins, const char *text, size_t length)
{
    UErrorCode status = U_ZERO_ERROR;
    UText from = UTEXT_INITIALIZER;
    UBreakIterator *breaks = ubrk_open(UBRK_WORD, "en", NULL, 0, &status);
    utext_openUTF8(&from, text, (int64_t)length, &status);
    ubrk_setUText(breaks, &from, &status);
    for (int at; U_SUCCESS(status) && (at = ubrk_next(breaks)) != UBRK_DONE;) {
        UChar32 before, after;
        int end = at, next = at;
        if ((size_t)at >= length) break;
        U8_PREV(text, 0, end, before);
        U8_NEXT(text, next, (int)length, after);
        begins[at] = words_unspaced((unsigned)before) || words_unspaced((unsigned)after);
    }
    ubrk_close(breaks);
    utext_close(&from);
    return U_SUCCESS(status);
}

int *words_number(int *words, const char *text, size_t length, bool characters, Error *error)
{
    bool unspaced = false;
    int *word = calloc(length + 1, sizeof *word);
    if (!word) return error_memory(error, "for the words of a text"), NULL;
    for (size_t at = 0; at < length && !unspaced && !characters;) {
        unsigned code;
        at += (size_t)utf8_decode(text + at, length - at, &code);
        unspaced = code >= 0x80 && words_unspaced(code);
    }
    if (unspaced && !mark_breaks(word, text, length)) {
        free(word);
        return error_set(error, "cannot find the words of a text"), NULL;
    }
    *words = 0;
    for (size_t i = 0; i < length; i++) {
        bool begins = word[i] || i == 0 || words_blank(text[i - 1]) ||
                      (characters && (text[i] & 0xC0) != 0x80);
        *words += begins && !words_blank(text[i]);
        word[i] = *words > 0 ? *words - 1 : 0;
    }
    return word;
}

bool words_say(const char *text, int number, const char *language)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar word[64];
    char stem[192] = "", pattern[256];
    UNumberFormat *format = unum_open(UNUM_SPELLOUT, NULL, 0, language, NULL, &status);
    int length = unum_format(format, number, word, 64, NULL, &status);
    length -= length > 3 || (length == 3 && *word > 0x7F);
    u_strToUTF8(stem, sizeof stem, NULL, word, length, &status);
    snprintf(pattern, sizeof pattern,
             "(?<!\\d)\\p{nv=%d}(?!\\d)|(?<![A-Za-z\\u00C0-\\u058F])%s", number, stem);
    UText *all = utext_openUTF8(NULL, text, -1, &status),
          *source = utext_openUTF8(NULL, pattern, -1, &status);
    URegularExpression *regex =
        uregex_openUText(source, UREGEX_CASE_INSENSITIVE, NULL, &status);
    uregex_setUText(regex, all, &status);
    bool found = uregex_find(regex, 0, &status);
    uregex_close(regex);
    utext_close(source), utext_close(all);
    unum_close(format);
    return found || U_FAILURE(status);
}
