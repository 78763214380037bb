/* progressbar.h -- how far it is, on the last line of a terminal:
 *
 *   45% [#########           ] 1,234 lines, 567/s, 3s left
 *
 * without the percentage, the bar and the end where nobody knows how much there is. */
#ifndef COMMANDS_PROGRESSBAR_H
#define COMMANDS_PROGRESSBAR_H

#include <stdio.h>

typedef struct ProgressBar {
    FILE *out;     // NULL: no bar
    double begin;  // seconds
    double shown;  // when it was drawn last
} ProgressBar;

ProgressBar progressbar_start(FILE *out);

/* Draws it, some times a second at most. share: 0 to 1, or negative if unknown. */
void progressbar_show(ProgressBar *bar, double lines, double share);

/* Takes it away, before something else is written there. */
void progressbar_clear(ProgressBar *bar);

/* "12s", "3m40s", "2h05m" */
enum { DURATION_TEXT = 32 };
const char *duration_text(char text[DURATION_TEXT], double seconds);

#endif
