/* axis.h -- an axis of a chart: maps numbers to positions along a line, with ticks at round
 * numbers. */
#pragma once

#include <stdbool.h>

enum { AXIS_MAX_TICKS = 16 };

typedef struct Axis {
    bool log;          // positions are proportional to the logarithm
    double low, high;  // low < high; both above 0 if log
    int ticks;
    double tick[AXIS_MAX_TICKS];
    char label[AXIS_MAX_TICKS][16];
} Axis;

/* An axis for low..high with about `wanted` ticks (2 to 8). Bounds that are equal, reversed or
 * not finite are replaced by a range that can be drawn. tight: the axis ends at the bounds
 * instead of at the next ticks. */
Axis axis_make(double low, double high, bool log, bool tight, int wanted);

/* The position of a value: 0 at low, 1 at high; outside 0..1 for other values. */
double axis_place(const Axis *axis, double value);
