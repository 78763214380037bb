/* progressbar.h -- a progress bar on the last line of a terminal:
 *
 *   45% [#########           ] 1,234 lines, 567/s, 3s left
 *
 * Without percentage, bar and time left if the size of the input is unknown. */
#ifndef COMMANDS_PROGRESSBAR_H
#define COMMANDS_PROGRESSBAR_H

#include <stdio.h>

typedef struct ProgressBar {
    FILE *out;     // NULL: no bar
    double begin;  // time of the start, in seconds
    double shown;  // time of the last drawing
} ProgressBar;

ProgressBar progressbar_start(FILE *out);

/* Draws it, at most five times a second. share: 0 to 1, or negative if unknown. */
void progressbar_show(ProgressBar *bar, double lines, double share);

/* Removes it. Call this before writing anything else. */
void progressbar_clear(ProgressBar *bar);

enum { NUMBER_TEXT = 32, DURATION_TEXT = 32 };

/* "1,234,567" */
const char *number_text(char text[NUMBER_TEXT], double number);

/* "12s", "3m40s", "2h05m" */
const char *duration_text(char text[DURATION_TEXT], double seconds);

#endif
