/* weightspage.h -- weight matrices before and after training, and the norms of their gradients.
 *
 *     title
 *       W_Q          W_K          W_V
 *     ┌ before ┐   ┌ before ┐   ┌ before ┐        each weight is a small square: blue above zero,
 *     └────────┘   └────────┘   └────────┘        orange below, the page's colour at zero
 *     ┌ after  ┐   ┌ after  ┐   ┌ after  ┐
 *     └────────┘   └────────┘   └────────┘
 *     ‖gradient‖ ───╮______________________ update
 *
 * Both matrices of a column have one scale, printed below, so that they can be compared.
 * Matrices with more than 128 rows or columns are averaged over blocks. */
#ifndef PLOTS_WEIGHTSPAGE_H
#define PLOTS_WEIGHTSPAGE_H

#include "plots/curves.h"

typedef struct WeightsColumn {
    const char *name;
    const float *before, *after;  // [rows,columns]
    int rows, columns;
} WeightsColumn;

typedef struct WeightsPage {
    const char *title, *subtitle;
    const WeightsColumn *columns;  // [count]
    const Series *norms;           // [count] of the gradients
    int count;
} WeightsPage;

/* Draws the page; free *canvas with canvas_free. */
bool weightspage_draw(Canvas **canvas, const WeightsPage *page, Theme theme, Error *error);

#endif
