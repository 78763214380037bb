/* utf8.h -- reads UTF-8 from untrusted sources, and makes it safe to show, to draw and to
 * store.
 *
 * Text from a corpus, a model or a file's name must not command the terminal that shows it.
 * What is shown therefore has U+FFFD in place of each invalid byte and of each character that
 * is not utf8_is_shown. */
#pragma once

#include "base/c.h"

/* *code (=) the first character of text [length], length > 0; returns its length in bytes, 1 to
 * 4. A byte that begins no valid character is U+FFFD, of length 1. */
int utf8_decode(const char *text, size_t length, unsigned *code);

/* The same for a text that ends in a zero, which is not its first byte. */
int utf8_next(const char *text, unsigned *code);

/* Whether bytes[0..length) is valid UTF-8. If not, *bad (unless NULL) is the index of the first
 * invalid byte. */
bool utf8_is_valid(const char *bytes, size_t length, size_t *bad);

/* The number of characters of valid UTF-8. */
size_t utf8_count(const char *text, size_t length);

/* A place in valid UTF-8: `bytes` of the text are so many characters. {.text = …} is its beginning. */
typedef struct Utf8Place {
    const char *text;
    size_t bytes, characters;
} Utf8Place;

/* Moves the place on to a byte; returns the number of characters before it. Places in rising order
 * take time in proportion to the text. */
size_t utf8_move(Utf8Place *place, size_t byte);

/* text (=) the character, which is below 0x110000, in UTF-8, and a zero */
void utf8_encode(char text[5], unsigned code);

/* False for control characters (C0, C1, DEL), for those that separate lines, for those that
 * override, embed or isolate a direction of writing, and for U+FFFE and U+FFFF, which XML does not
 * allow. */
bool utf8_is_shown(unsigned code);

bool utf8_is_ascii(const char *text);

/* A copy for free() of what is shown, and of the characters of `keep`. It ends in an ellipsis after
 * `limit` characters; 0: no limit. NULL if memory is short. */
char *utf8_clean(const char *text, size_t limit, const char *keep);

/* to [size] (=) what is shown of text, in whole characters. Returns whether all of it
 * fits. */
bool utf8_fit(char *to, size_t size, const char *text);

/* Prints what is shown of the text; a newline at its end stays. Nothing if memory is short. */
void utf8_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void utf8_vprint(FILE *out, const char *format, va_list arguments);

#define UTF8_LINE_ENDS "\n\v\f\r"
#define UTF8_CELL_ENDS "\t" UTF8_LINE_ENDS

/* Prints data: what is shown of it if `out` is a terminal, else the text as it is, but with U+FFFD in
 * place of the characters `ends`, which would end a cell of a table or a line. */
void utf8_put(FILE *out, const char *text, const char *ends);
