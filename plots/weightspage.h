/* weightspage.h -- matrices before and after training, and how large their gradients were.
 *
 *     title
 *       W_Q          W_K          W_V
 *     ┌ before ┐   ┌ before ┐   ┌ before ┐        a number is a pixel or a few: blue above zero,
 *     └────────┘   └────────┘   └────────┘        orange below, the page's colour at zero
 *     ┌ after  ┐   ┌ after  ┐   ┌ after  ┐
 *     └────────┘   └────────┘   └────────┘
 *     ‖gradient‖ ───╮______________________ update
 *
 * A column has one scale, said below it, so that before and after can be compared. Of matrices wider
 * than 128, a cell is the mean of a square of numbers. */
#ifndef PLOTS_WEIGHTSPAGE_H
#define PLOTS_WEIGHTSPAGE_H

#include "plots/curves.h"

typedef struct WeightsColumn {
    const char *name;
    const float *before, *after;  // [rows,columns]
    int rows, columns;
} WeightsColumn;

/* Draws the page; *page is for canvas_free. */
bool weightspage_draw(Canvas **page, const char *title, const char *subtitle,
                      const WeightsColumn *columns, int count, const Series *norms,
                      int norm_count, Theme theme, Error *error);

#endif
