/* curves.h -- a line chart: one or more panels, one above the other, of several series each. */
#ifndef PLOTS_CURVES_H
#define PLOTS_CURVES_H

#include "plots/axis.h"
#include "plots/canvas.h"

typedef struct Series {
    const char *label;  // in the legend; or NULL
    const double *x;    // [count], ascending
    const double *y;    // [count]; a point that is not finite is a gap in the line
    int count;          // may be 0
    int color;          // of the palette's series, 0 .. PALETTE_SERIES-1
    bool points;        // a dot at every point as well (while there are few)
} Series;

typedef struct CurvePanel {
    const char *title;              // or NULL
    const char *x_label, *y_label;  // or NULL
    const Series *series;           // [count]
    int count;
    bool log_y;  // values that are not above 0 are gaps
} CurvePanel;

/* Where a panel lies on the page, for whoever wants to find a point again:
 * pixel x = left + width · axis_place(&x, ·),  pixel y = top + height · (1 - axis_place(&y, ·)). */
typedef struct CurvePlan {
    int left, top, width, height;
    Axis x, y;
} CurvePlan;

/* Draws the page; *page is for canvas_free; plans [count], if not NULL, says where the panels are.
 * The panels share the range of x. */
bool curves_draw(Canvas **page, const char *title, const char *subtitle,
                 const CurvePanel *panels, int count, Theme theme, CurvePlan *plans,
                 Error *error);

#endif
