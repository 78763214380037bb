/* chart.c -- a small line chart; see chart.h. */
#include "plots/chart.h"

#include <math.h>
#include <stdlib.h>

enum { Y_TICKS = 3, X_TICKS = 8, LETTERS = 11 };

static bool is_drawn(const Series *series, int i, bool log)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]) && (!log || series->y[i] > 0);
}

void chart_fit(Chart *chart, const Series *series, int count, bool log_y)
{
    double end = 1, low = INFINITY, high = -INFINITY;
    for (int s = 0; s < count; s++)
        for (int i = 0; i < series[s].count; i++) {
            if (!is_drawn(&series[s], i, log_y)) continue;
            end = fmax(end, series[s].x[i]);
            low = fmin(low, series[s].y[i]);
            high = fmax(high, series[s].y[i]);
        }
    chart->across = axis_make(0, end, false, true, X_TICKS);
    chart->up = axis_make(log_y ? low : 0, high, log_y, false, Y_TICKS);
    chart->until = end;
}

static double place_x(const Chart *chart, double x)
{
    return chart->x + chart->width * axis_place(&chart->across, x);
}

static double place_y(const Chart *chart, double y)
{
    return chart->y + chart->height * (1 - axis_place(&chart->up, y));
}

/* The part of a series up to chart->until, and a dot where it ends. */
static bool draw_series(Canvas *canvas, const Chart *chart, const Series *series, Color color,
                        Error *error)
{
    double *x = malloc(2 * ((size_t)series->count + 1) * sizeof *x);
    if (!x) return error_set(error, "not enough memory for a picture");
    double *y = x + series->count + 1;
    int count = 0;
    for (int i = 0; i < series->count && series->x[i] <= chart->until; i++) {
        if (!is_drawn(series, i, chart->up.log)) continue;
        x[count] = place_x(chart, series->x[i]);
        y[count++] = place_y(chart, series->y[i]);
    }
    if (count > 1) canvas_polyline(canvas, x, y, count, 2, color);
    if (count) canvas_disc(canvas, x[count - 1], y[count - 1], 3.5, color);
    free(x);
    return true;
}

static void draw_axes(Canvas *canvas, const Chart *chart, TextStyle style)
{
    const Palette *palette = theme_palette(canvas_theme(canvas));
    style.across = ALIGN_END, style.down = ALIGN_CENTRE;
    for (int i = 0; i < chart->up.ticks; i++) {
        double y = round(place_y(chart, chart->up.tick[i]));
        canvas_rectangle(canvas, chart->x, y, chart->width, 1, palette->rule);
        canvas_text(canvas, chart->up.label[i], chart->x - 8, y, &style);
    }
    style.across = ALIGN_CENTRE, style.down = ALIGN_START;
    for (int i = 0; i < chart->across.ticks; i++)
        canvas_text(canvas, chart->across.label[i], place_x(chart, chart->across.tick[i]),
                    chart->y + chart->height + 8, &style);
    if (chart->marked)
        canvas_rectangle(canvas, round(place_x(chart, chart->until)), chart->y, 1,
                         chart->height, palette->muted);
}

bool chart_draw(Canvas *canvas, const Chart *chart, const Series *series, int count,
                Error *error)
{
    const Palette *palette = theme_palette(canvas_theme(canvas));
    TextStyle style = {.size = LETTERS, .color = palette->muted};
    draw_axes(canvas, chart, style);
    style.across = ALIGN_END;
    double name = chart->x + chart->width;
    for (int s = count - 1; s >= 0; s--) {
        Color color = palette->series[series[s].color % PALETTE_SERIES];
        if (!draw_series(canvas, chart, &series[s], color, error)) return false;
        if (!series[s].label) continue;
        canvas_text(canvas, series[s].label, name, chart->y - 19, &style);
        name -= canvas_measure(canvas, series[s].label, &style).width + 6;
        canvas_rectangle(canvas, name - 14, chart->y - 13, 14, 3, color);
        name -= 14 + 16;
    }
    return true;
}
