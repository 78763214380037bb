/* axis.c -- ticks at 1, 2 or 5 times a power of ten (Heckbert 1990, "Nice numbers for graph
 * labels"). A logarithmic axis has them at powers of ten and, if it spans few decades, at 2, 5
 * and more times these. If it spans less than a factor of about 3, it has linear ticks. */
#include "plots/axis.h"

#include <math.h>
#include <stdio.h>

/* The smallest number of the form {1,2,5}·10^k that is at least x > 0. */
static double nice_above(double x)
{
    double power = pow(10, floor(log10(x))), lead = x / power;
    const double slack = 1 + 1e-9;  // 0.3 / 3 is slightly more than 0.1
    return power * (lead <= slack ? 1 : lead <= 2 * slack ? 2 : lead <= 5 * slack ? 5 : 10);
}

/* 250, 20k, 1.5M; 0.05; 2e-05. The step decides the number of decimals. */
static void format_tick(char text[16], double value, double step)
{
    double size = fabs(value);
    if (size == 0) snprintf(text, 16, "0");
    else if (step >= 1e9 || size >= 1e10 || step < 1e-5) snprintf(text, 16, "%.4g", value);
    else if (step >= 1e5) snprintf(text, 16, "%gM", value / 1e6);
    else if (step >= 1e3) snprintf(text, 16, "%gk", value / 1e3);
    else snprintf(text, 16, "%.*f", step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9), value);
}

static void add_tick(Axis *axis, double value, double step)
{
    double slack = 1e-9 * (axis->high - axis->low);
    if (axis->ticks >= AXIS_MAX_TICKS || value < axis->low - slack ||
        value > axis->high + slack)
        return;
    axis->tick[axis->ticks] = value;
    format_tick(axis->label[axis->ticks++], value, step);
}

static void linear_ticks(Axis *axis, bool tight, int wanted)
{
    double step = nice_above((axis->high - axis->low) / wanted);
    double first = floor(axis->low / step + 1e-9), last = ceil(axis->high / step - 1e-9);
    if (!tight) {
        axis->low = first * step;
        axis->high = last * step;
    }
    for (int i = 0; i <= 2 * AXIS_MAX_TICKS && first + i <= last; i++)
        add_tick(axis, (first + i) * step, step);
}

static void log_ticks(Axis *axis, int wanted)
{
    double decades = log10(axis->high / axis->low);
    int stride = (int)fmax(1, ceil(decades / wanted));
    const char *leads = decades < 1 ? "123457" : decades < 0.6 * wanted ? "125" : "1";
    int last = (int)ceil(log10(axis->high));
    for (int k = (int)floor(log10(axis->low)); k <= last; k += stride) {
        double power = pow(10, k);
        for (const char *lead = leads; *lead; lead++)
            add_tick(axis, (*lead - '0') * power, power);
    }
}

/* Replaces bounds that cannot be drawn. */
static void repair(Axis *axis)
{
    const double least = 1e-300, most = 1e300;
    if (!isfinite(axis->low) || !isfinite(axis->high)) {
        axis->low = axis->log ? 1 : 0;
        axis->high = axis->log ? 10 : 1;
    }
    double low = fmin(axis->low, axis->high), high = fmax(axis->low, axis->high);
    axis->low = fmin(fmax(low, axis->log ? least : -most), most);
    axis->high = fmin(fmax(high, axis->low), most);
    double size = fabs(axis->low);
    if (axis->log && axis->high < axis->low * 1.01) {
        axis->low /= 2;
        axis->high *= 2;
    } else if (!axis->log && axis->high - axis->low <= 1e-9 * size) {
        double half = size > 0 ? 0.1 * size : 0.5;
        axis->low -= half;
        axis->high += half;
    }
    if (axis->high - axis->low < least) axis->high = axis->low + (axis->log ? axis->low : 1);
}

Axis axis_make(double low, double high, bool log, bool tight, int wanted)
{
    Axis axis = {.log = log, .low = low, .high = high};
    wanted = wanted < 2 ? 2 : wanted > 8 ? 8 : wanted;
    repair(&axis);
    if (log && !tight) {  // a margin above and below
        double margin = pow(axis.high / axis.low, 0.05);
        axis.low /= margin;
        axis.high *= margin;
    }
    if (log) log_ticks(&axis, wanted);
    if (axis.ticks < 2) {
        axis.ticks = 0;
        linear_ticks(&axis, tight || log, wanted);
    }
    return axis;
}

double axis_place(const Axis *axis, double value)
{
    if (!axis->log) return (value - axis->low) / (axis->high - axis->low);
    return (log10(value) - log10(axis->low)) / (log10(axis->high) - log10(axis->low));
}
