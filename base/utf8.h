/* utf8.h -- text from anywhere, character by character, made safe to draw and to store. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the character at text (not at its final zero), writes it to *code and returns how many
 * bytes it takes: 1 to 4. A byte that begins no valid character is U+FFFD and takes 1 byte. */
int utf8_next(const char *text, unsigned *code);

bool utf8_is_ascii(const char *text);

/* A copy for free() with U+FFFD for every bad byte and, unless keep_lines, for every control
 * character; with keep_lines a newline and a tab stay. After limit characters an ellipsis ends
 * it (limit 0: none). NULL if memory is short. */
char *utf8_clean(const char *text, size_t limit, bool keep_lines);

#endif
