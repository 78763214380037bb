/* chart.h -- a small line chart inside a page of something else. curves.h makes a page of its own. */
#ifndef PLOTS_CHART_H
#define PLOTS_CHART_H

#include "plots/curves.h"

typedef struct Chart {
    double x, y, width, height;  // of the area between the axes, pixels
    Axis across, up;
    double until;  // series are drawn up to here
    bool marked;   // with a line there
} Chart;

/* Axes that have room for the series; the horizontal one begins at 0. log_y: what is not above 0 is
 * left out. Sets across, up and until (the end). */
void chart_fit(Chart *chart, const Series *series, int count, bool log_y);

/* Draws it: figures left of and below the area, the series' names above it, at the right. */
bool chart_draw(Canvas *canvas, const Chart *chart, const Series *series, int count,
                Error *error);

#endif
