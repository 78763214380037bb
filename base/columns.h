/* columns.h -- text in a terminal, where a character takes one column, two (Chinese, emoji) or
 * none (combining marks): its width, truncated or padded to a width, and wrapped at a width. */
#pragma once

#include "base/c.h"

/* Columns of the terminal that `out` is; `otherwise` if it is none. */
int columns_of(FILE *out, int otherwise);

/* The number of columns of valid UTF-8. */
int columns_width(const char *text);

/* Writes what is shown of the text (base/utf8.h) in exactly `width` columns. Longer text ends in "…";
 * shorter text is padded with spaces after it, or before it if right. Text that is written from right
 * to left stands between two U+200E, so that terminals that reorder it keep the columns. */
void columns_put(FILE *out, const char *text, int width, bool right);

/* Writes a paragraph in lines that end at column `width`, with a newline at the end. A line
 * begins after `indent` spaces, the first one after `first` where its beginning is written already.
 * A word wider than a line has a line of its own. U+200E follows the last of several words that are
 * written from right to left. */
void columns_wrap(FILE *out, const char *text, int first, int indent, int width);

/* Writes a paragraph from a format, in lines that end at column `width`, and an empty line. */
void columns_say(FILE *out, int width, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
