/* columns.h -- text in a terminal, where a character takes one column, two (Chinese, emoji) or
 * none (combining marks): how wide it is, cut and filled to a width, wrapped at one. */
#ifndef PLOTS_COLUMNS_H
#define PLOTS_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

/* Columns that valid UTF-8 takes. */
int columns_width(const char *text);

/* Writes text in exactly `width` columns: what is too long ends in "…", what is short is filled
 * with spaces, behind it, or before it if right. What a terminal would obey (control characters)
 * and what is no UTF-8 is written as U+FFFD. */
void columns_put(FILE *out, const char *text, int width, bool right);

/* Writes a paragraph: words filled into lines of at most `width` columns, each after `indent`
 * spaces, a newline at the end. Words wider than a line have one of their own. */
void columns_wrap(FILE *out, const char *text, int indent, int width);

#endif
