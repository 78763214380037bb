/* utf8.c -- strict UTF-8, as in the Unicode Standard 15, table 3-7.
 *
 *     code            bytes
 *     0000 ..  007F   00..7F
 *     0080 ..  07FF   C2..DF 80..BF
 *     0800 ..  FFFF   E0..EF 80..BF 80..BF            without overlong forms and surrogates
 *    10000 .. 10FFFF  F0..F4 80..BF 80..BF 80..BF     without overlong forms and what is above
 *
 * Pango complains on stderr about anything else, and a PNG reader may reject the file: tokens
 * of a byte-level model are often half a character, so both must be protected. */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };

int utf8_next(const char *text, unsigned *code)
{
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    *code = s[0];
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    unsigned value = s[0] & (0xFFu >> (length + 1));
    *code = REPLACEMENT;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 1;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 1;  // also at the final zero
        value = value << 6 | (s[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF) return 1;
    if (value >= 0xD800 && value <= 0xDFFF) return 1;
    *code = value;
    return length;
}

bool utf8_is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80) text++;
    return !*text;
}

static bool is_control(unsigned code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

char *utf8_clean(const char *text, size_t limit, bool keep_lines)
{
    static const char replacement[] = "\xEF\xBF\xBD", ellipsis[] = "\xE2\x80\xA6";
    size_t length = limit ? strnlen(text, 4 * limit + 1) : strlen(text);
    char *clean = malloc(3 * length + sizeof ellipsis), *end = clean;
    if (!clean) return NULL;
    for (size_t characters = 0; *text; characters++) {
        if (limit && characters == limit) {
            end = mempcpy(end, ellipsis, 3);
            break;
        }
        unsigned code;
        int bytes = utf8_next(text, &code);
        bool line = keep_lines && (code == '\n' || code == '\t');
        bool bad = (code == REPLACEMENT && bytes == 1) || (is_control(code) && !line);
        end = mempcpy(end, bad ? replacement : text, bad ? 3 : (size_t)bytes);
        text += bytes;
    }
    *end = 0;
    return clean;
}
