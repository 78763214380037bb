/* utf8.h -- reads UTF-8 from untrusted sources, and makes it safe to draw and to store. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* *code (=) the character at text, which is not its final zero; returns its length in bytes, 1
 * to 4. A byte that begins no valid character is U+FFFD, of length 1. */
int utf8_next(const char *text, unsigned *code);

bool utf8_is_ascii(const char *text);

/* A copy for free(), with U+FFFD for every invalid byte and every control character; with
 * keep_lines newlines and tabs stay. It ends in an ellipsis after `limit` characters; 0: no
 * limit. NULL if memory is short. */
char *utf8_clean(const char *text, size_t limit, bool keep_lines);

#endif
