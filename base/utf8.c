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

#include <unistd.h>

enum { REPLACEMENT = 0xFFFD };

static const char replacement[] = "\xEF\xBF\xBD", ellipsis[] = "\xE2\x80\xA6";

int utf8_decode(const char *text, size_t left, unsigned *code)
{
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    *code = s[0];
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    unsigned value = s[0] & (0xFFu >> (length + 1));
    *code = REPLACEMENT;
    if (s[0] < 0xC2 || s[0] > 0xF4 || (size_t)length > left) return 1;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 1;  // also at a final zero
        value = value << 6 | (s[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF) return 1;
    if (value >= 0xD800 && value <= 0xDFFF) return 1;
    *code = value;
    return length;
}

bool utf8_is_valid(const char *bytes, size_t length, size_t *bad)
{
    unsigned code;
    for (size_t i = 0, count; i < length; i += count) {
        count =
            (signed char)bytes[i] >= 0 ? 1 : (size_t)utf8_decode(bytes + i, length - i, &code);
        if (count > 1 || (signed char)bytes[i] >= 0) continue;
        if (bad) *bad = i;
        return false;
    }
    return true;
}

int utf8_next(const char *text, unsigned *code)
{
    return utf8_decode(text, 4, code);
}

bool utf8_is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80) text++;
    return !*text;
}

size_t utf8_count(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += (text[i] & 0xC0) != 0x80;
    return count;
}

size_t utf8_move(Utf8Place *place, size_t byte)
{
    place->characters += utf8_count(place->text + place->bytes, byte - place->bytes);
    place->bytes = byte;
    return place->characters;
}

void utf8_encode(char text[5], unsigned code)
{
    int more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);  // bytes after the first
    unsigned first = more ? 0xFFu << (7 - more) & 0xFF : 0;
    text[0] = (char)(first | code >> 6 * more);
    for (int i = 1; i <= more; i++) text[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3F));
    text[more + 1] = 0;
}

bool utf8_is_shown(unsigned code)
{
    bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    return !control && !(code >= 0x2028 && code <= 0x202E) &&
           !(code >= 0x2066 && code <= 0x2069) && code != 0xFFFE && code != 0xFFFF;
}

/* Writes what is shown of the first character to *end and moves *end on; returns the
 * character's length. */
static int show_next(char **end, const char *text, const char *keep)
{
    unsigned code;
    int bytes = utf8_next(text, &code);
    char one[5];
    utf8_encode(one, code);
    bool bad =
        (code == REPLACEMENT && bytes == 1) || !(utf8_is_shown(code) || strstr(keep, one));
    *end = mempcpy(*end, bad ? replacement : text, bad ? 3 : (size_t)bytes);
    return bytes;
}

char *utf8_clean(const char *text, size_t limit, const char *keep)
{
    size_t length = limit ? strnlen(text, 4 * limit + 1) : strlen(text);
    char *clean = malloc(3 * length + sizeof ellipsis), *end = clean;
    if (!clean) return NULL;
    for (size_t characters = 0; *text; characters++) {
        if (limit && characters == limit) {
            end = mempcpy(end, ellipsis, 3);
            break;
        }
        text += show_next(&end, text, keep);
    }
    *end = 0;
    return clean;
}

bool utf8_fit(char *to, size_t size, const char *text)
{
    while (*text) {
        char one[4], *end = one;
        int bytes = show_next(&end, text, "");
        size_t count = (size_t)(end - one);
        if (count >= size) break;
        to = mempcpy(to, one, count);
        size -= count;
        text += bytes;
    }
    *to = 0;
    return !*text;
}

void utf8_vprint(FILE *out, const char *format, va_list arguments)
{
    char *text = NULL, *clean;
    int length = vasprintf(&text, format, arguments);
    if (length < 0) return;
    bool line = length > 0 && text[length - 1] == '\n';
    if (line) text[length - 1] = 0;
    if ((clean = utf8_clean(text, 0, ""))) fprintf(out, "%s%s", clean, line ? "\n" : "");
    free(clean);
    free(text);
}

void utf8_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    utf8_vprint(out, format, arguments);
    va_end(arguments);
}

void utf8_put(FILE *out, const char *text, const char *ends)
{
    char *clean = isatty(fileno(out)) ? utf8_clean(text, 0, "\n\t") : NULL;
    for (const char *at = clean ? clean : text; *at; at++)
        fputs(strchr(ends, *at) ? replacement : (char[]){*at, 0}, out);
    free(clean);
}
