/* words.c -- where the words of a text are; see words.h. */
#include "data/words.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

/* Whether a script writes its words without spaces. */
static bool is_unspaced(unsigned code)
{
    UErrorCode status = U_ZERO_ERROR;
    int breaks = u_getIntPropertyValue((UChar32)code, UCHAR_LINE_BREAK);
    UScriptCode script = uscript_getScript((UChar32)code, &status);
    return breaks == U_LB_COMPLEX_CONTEXT || breaks == U_LB_CONDITIONAL_JAPANESE_STARTER ||
           script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
}

bool words_letter(unsigned code)
{
    return u_isalnum((UChar32)code) && !is_unspaced(code);
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
            code >= 0x80 &&
            (is_unspaced(code) || uscript_getScript((UChar32)code, &status) == USCRIPT_TIBETAN);
        if (unspaced || u_isalpha((UChar32)code)) spacing->letters += bytes;
        if (unspaced) spacing->unspaced += bytes;
        spacing->spaces += unspaced && last && space;
        space = code == ' ';
        last = unspaced || (space && last);
    }
}

/* begins [length] (=) where a word of a script without spaces begins, or ends */
static bool mark_breaks(bool *begins, const char *text, size_t length)
{
    UErrorCode status = U_ZERO_ERROR;
    UText from = UTEXT_INITIALIZER;
    UBreakIterator *breaks = ubrk_open(UBRK_WORD, "en", NULL, 0, &status);
    utext_openUTF8(&from, text, (int64_t)length, &status);
    ubrk_setUText(breaks, &from, &status);
    for (int at; U_SUCCESS(status) && (at = ubrk_next(breaks)) != UBRK_DONE;) {
        unsigned before, after;
        int first = at - 1;
        if ((size_t)at >= length) break;
        while (first > 0 && (text[first] & 0xC0) == 0x80) first--;
        utf8_decode(text + first, (size_t)(at - first), &before);
        utf8_decode(text + at, length - (size_t)at, &after);
        begins[at] = is_unspaced(before) || is_unspaced(after);
    }
    ubrk_close(breaks);
    utext_close(&from);
    return U_SUCCESS(status);
}

bool words_number(int *word, int *words, const char *text, size_t length, bool characters,
                  Error *error)
{
    bool *begins = calloc(length + 1, sizeof *begins), unspaced = false;
    if (!begins) return error_memory(error, "for the words of a text");
    for (size_t at = 0; at < length && !unspaced && !characters;) {
        unsigned code;
        at += (size_t)utf8_decode(text + at, length - at, &code);
        unspaced = code >= 0x80 && is_unspaced(code);
    }
    bool good = !unspaced || mark_breaks(begins, text, length) ||
                error_set(error, "cannot find the words of a text");
    *words = 0;
    for (size_t i = 0; good && i < length; i++) {
        bool blank = words_blank(text[i]);
        begins[i] |=
            i == 0 || words_blank(text[i - 1]) || (characters && (text[i] & 0xC0) != 0x80);
        *words += !blank && begins[i];
        word[i] = *words > 0 ? *words - 1 : 0;
    }
    free(begins);
    return good;
}
