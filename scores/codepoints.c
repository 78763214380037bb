/* codepoints.c -- a sentence as Unicode code points. Categories and lower case are ICU's.
 *
 * ICU's lower case without a language is that of Python's str.lower(): İ becomes i and U+0307, Σ
 * becomes ς at the end of a word. White space is Unicode's and, as in Python, the separators
 * U+001C to U+001F. */
#include "scores/codepoints.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/ucasemap.h>
#include <unicode/uchar.h>

#include "base/utf8.h"

uint32_t *codepoints_reserve(int length, Error *error)
{
    uint32_t *at = malloc(((size_t)length + 1) * sizeof *at);
    if (!at) error_memory(error, "for a sentence of %d characters", length);
    return at;
}

void codepoints_free(Codepoints *text)
{
    free(text->at);
    *text = (Codepoints){0};
}

static bool decode(Codepoints *text, const char *utf8, size_t bytes, Error *error)
{
    *text = (Codepoints){codepoints_reserve((int)bytes, error), 0};
    for (size_t at = 0, length; text->at && at < bytes; at += length) {
        unsigned code;
        length = (size_t)utf8_decode(utf8 + at, bytes - at, &code);
        if (code == 0xFFFD && length == 1) {
            codepoints_free(text);
            return error_set(error, "not valid UTF-8 at byte %zu of the sentence", at + 1);
        }
        text->at[text->length++] = code;
    }
    return text->at;
}

bool codepoints_read(Codepoints *text, const char *utf8, bool lowercase, Error *error)
{
    *text = (Codepoints){0};
    size_t bytes = strnlen(utf8, (size_t)CODEPOINTS_LIMIT + 1);
    if (bytes > CODEPOINTS_LIMIT)
        return error_set(error, "a sentence of more than %d bytes is too long to score",
                         CODEPOINTS_LIMIT);
    if (!decode(text, utf8, bytes, error) || !lowercase) return text->at;

    codepoints_free(text);
    UErrorCode status = U_ZERO_ERROR;
    int size = (int)bytes * 3 / 2 + 1;  // two bytes may become three
    char *lower = malloc((size_t)size);
    UCaseMap *map = ucasemap_open("", 0, &status);
    if (lower) size = ucasemap_utf8ToLower(map, lower, size, utf8, (int)bytes, &status);
    ucasemap_close(map);
    bool good = lower && U_SUCCESS(status)
                    ? decode(text, lower, (size_t)size, error)
                    : error_memory(error, "for a sentence in lower case");
    free(lower);
    return good;
}

bool codepoints_read_pair(Codepoints pair[2], const char *hypothesis, const char *reference,
                          bool lowercase, Error *error)
{
    pair[1] = (Codepoints){0};
    if (!codepoints_read(&pair[0], hypothesis, lowercase, error))
        return error_prefix(error, "hypothesis");
    return codepoints_read(&pair[1], reference, lowercase, error) ||
           error_prefix(error, "reference");
}

bool codepoints_is_space(uint32_t c)
{
    return u_isUWhiteSpace((UChar32)c) || (c >= 0x1C && c <= 0x1F);
}
