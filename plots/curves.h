/* curves.h -- line charts: a page of panels one above the other, or one small chart inside
 * another page. */
#pragma once

#include "plots/canvas.h"

enum { AXIS_MAX_TICKS = 16 };

/* Maps numbers to positions along a line, with ticks at round numbers. */
typedef struct Axis {
    bool log;          // positions are proportional to the logarithm
    double low, high;  // low < high; both above 0 if log
    double most;       // low is at least 0 and high no more than that; 0: any numbers
    int ticks;
    double tick[AXIS_MAX_TICKS];
    char label[AXIS_MAX_TICKS][16];
} Axis;

/* The position of a value: 0 at low, 1 at high; outside 0..1 for other values. */
double axis_place(const Axis *axis, double value);

typedef struct Series {
    const char *label;  // in the legend; or NULL
    const double *x;    // [count], ascending: updates, so that ticks are whole numbers
    const double *y;    // [count]; values that are not finite are not drawn
    int count;          // may be 0
    int color;          // of the palette's PALETTE_SERIES series, which repeat
    bool points;        // a dot at every point as well (up to 60 points)
} Series;

/* A point is at pixel x + width · axis_place(&across, ·), y + height · (1 - axis_place(&up, ·)). */
typedef struct Chart {
    const char *title;              // or NULL
    const char *x_label, *y_label;  // or NULL
    const Series *series;           // [count]; a point that is not drawn is a gap in its line
    int count;
    double x, y, width, height;  // of the area between the axes, pixels
    Axis across, up;             // up.log: values that are not above 0 are gaps; up.most
    double until;                // series are drawn up to this x; INFINITY: all
} Chart;

/* Draws the page. Free *page with canvas_free, even if it fails. Set of each chart what comes
 * before x, and up.log and up.most; the rest (=) is its position. They share the range of x. */
bool curves_draw(Canvas **page, const char *title, const char *subtitle, Chart *charts,
                 int count, Error *error);

/* chart->across, up and until (=) so that all of the series is visible. The horizontal axis
 * begins at 0, the vertical one is logarithmic. */
void chart_fit(Chart *chart);

/* Draws a chart up to chart->until, where a vertical line and dots are. */
void chart_draw(Canvas *canvas, const Chart *chart);
