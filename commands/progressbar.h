/* progressbar.h -- one line of progress. On a terminal it is redrawn in place and no wider than
 * the terminal:
 *
 *    45% [#########           ] 3m40s left  1,234 lines  567/s
 *
 * Elsewhere it is printed without the bar, every 10 seconds. */
#pragma once

#include "base/c.h"

typedef struct ProgressBar {
    FILE *out;      // NULL: no bar
    bool terminal;  // out is one
    int columns;    // of the terminal, at progressbar_begin
    double begin;   // time of progressbar_start, in seconds
    double shown;   // of the last line
    char line[256];
} ProgressBar;

ProgressBar progressbar_start(FILE *out, double now);

/* Whether a line is due; if so, begins one. */
bool progressbar_begin(ProgressBar *bar, double now);

/* Adds a field, unless it does not fit behind the others. */
void progressbar_add(ProgressBar *bar, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds percentage, bar and time left. share: 0 to 1. left: seconds, or NaN if unknown; at_most:
 * it may be less. */
void progressbar_share(ProgressBar *bar, double share, double left, bool at_most);

void progressbar_end(ProgressBar *bar);

/* Removes it from the terminal. Call this before writing anything else. */
void progressbar_clear(ProgressBar *bar);

enum { NUMBER_TEXT = 32, DURATION_TEXT = 32 };

/* "1,234,567" */
const char *number_text(char text[NUMBER_TEXT], double number);

/* "12s", "3m40s", "2h05m" */
const char *duration_text(char text[DURATION_TEXT], double seconds);
