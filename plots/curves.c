/* curves.c -- line charts; see curves.h. */
#include "plots/curves.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 960, MARGIN = 36, PANEL_HEIGHT = 300, SECOND_HEIGHT = 190, PANEL_GAP = 34 };
enum { TITLE_HEIGHT = 32, SUBTITLE_HEIGHT = 24, PANEL_HEAD = 30, X_TICKS = 24, X_LABEL = 22 };
enum { TICK_GAP = 8, LEGEND_LINE = 18, LEGEND_GAP = 18, MAX_DOTS = 60 };
enum { SMALL_Y_TICKS = 3, SMALL_X_TICKS = 8 };  // of chart_draw

static bool is_drawn(const Series *series, int i, bool log)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]) && (!log || series->y[i] > 0);
}

/* ---- ranges ---- */

typedef struct AxisRange {
    double low, high;  // infinite the wrong way round while empty
} AxisRange;

static void range_add(AxisRange *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* Widens x and y to the points of all series that are drawn. */
static void find_ranges(AxisRange *x, AxisRange *y, const Series *series, int count, bool log)
{
    for (int s = 0; s < count; s++)
        for (int i = 0; i < series[s].count; i++) {
            if (!is_drawn(&series[s], i, log)) continue;
            range_add(x, series[s].x[i]);
            range_add(y, series[s].y[i]);
        }
}

/* ---- one series ---- */

static Color series_color(const Series *series)
{
    return palette.series[(unsigned)series->color % PALETTE_SERIES];
}

static double place_x(const Chart *chart, double x)
{
    return chart->x + chart->width * axis_place(&chart->across, x);
}

static double place_y(const Chart *chart, double y)
{
    return chart->y + chart->height * (1 - axis_place(&chart->up, y));
}

/* Draws the points up to chart->until, with a dot at the last of them if that is finite. A point
 * that is not drawn is a gap. */
static bool draw_series(Canvas *canvas, const Chart *chart, const Series *series, bool log,
                        Error *error)
{
    int count = series->count;
    while (count > 0 && series->x[count - 1] > chart->until) count--;
    double *x = malloc(2 * ((size_t)count + 1) * sizeof *x), *y = x + count + 1;
    if (!x) return error_memory(error, "for a picture");
    Color color = series_color(series);
    bool dots = series->points && series->count <= MAX_DOTS;
    for (int i = 0, points = 0; i <= count; i++) {
        if (i < count && is_drawn(series, i, log)) {
            x[points] = place_x(chart, series->x[i]);
            y[points++] = place_y(chart, series->y[i]);
            continue;
        }
        if (points > 1) canvas_polyline(canvas, x, y, points, 2, color);
        for (int k = 0; k < points; k++)
            if (dots || points == 1 ||
                (isfinite(chart->until) && i == count && k == points - 1))
                canvas_disc(canvas, x[k], y[k], 3.5, color);
        points = 0;
    }
    free(x);
    return true;
}

/* ---- one panel ---- */

static void paint_axes(Canvas *canvas, const Chart *chart, const CurvePanel *panel, bool last)
{
    Color rule = palette.rule;
    TextStyle style = canvas_style(12, false, 0);
    double bottom = chart->y + chart->height;
    style.across = ALIGN_END, style.middle = true;
    for (int i = 0; i < chart->up.ticks; i++) {
        double y = round(place_y(chart, chart->up.tick[i]));
        canvas_rectangle(canvas, chart->x, y, chart->width, 1, rule);
        canvas_text(canvas, chart->up.label[i], chart->x - TICK_GAP, y, &style);
    }
    style.across = ALIGN_CENTRE, style.middle = false;
    for (int i = 0; i < chart->across.ticks; i++) {
        double x = round(place_x(chart, chart->across.tick[i]));
        canvas_rectangle(canvas, x, bottom, 1, 5, rule);
        if (last) canvas_text(canvas, chart->across.label[i], x, bottom + 6, &style);
    }
    canvas_rectangle(canvas, chart->x, bottom, chart->width, 1, rule);
    if (last && panel->x_label)
        canvas_text(canvas, panel->x_label, chart->x + chart->width / 2.0, bottom + X_TICKS,
                    &style);
    if (panel->y_label) {
        style.angle = 90;
        style.max_width = chart->height;
        canvas_text(canvas, panel->y_label, MARGIN - 8, chart->y + chart->height / 2.0, &style);
    }
}

/* The names of the series, above the panel at the right, and its title at the left. */
static void paint_head(Canvas *canvas, const Chart *chart, const CurvePanel *panel)
{
    double x = chart->x + chart->width, y = chart->y - 16;
    TextStyle style = canvas_style(13, false, 0);
    style.across = ALIGN_END;
    style.middle = true;
    style.max_width = 200;
    for (int s = panel->count - 1; s >= 0; s--) {
        const Series *series = &panel->series[s];
        if (!series->label || x < chart->x + 200) continue;
        canvas_text(canvas, series->label, x, y, &style);
        x -= canvas_measure(canvas, series->label, &style) + 7;
        canvas_rectangle(canvas, round(x - LEGEND_LINE), round(y - 1), LEGEND_LINE, 3,
                         series_color(series));
        x -= LEGEND_LINE + LEGEND_GAP;
    }
    if (!panel->title) return;
    style = canvas_style(14, true, 0);
    style.middle = true;
    style.max_width = fmax(x - chart->x, 40);
    canvas_text(canvas, panel->title, chart->x, y, &style);
}

static bool paint_panel(Canvas *canvas, const Chart *chart, const CurvePanel *panel, bool last,
                        Error *error)
{
    paint_axes(canvas, chart, panel, last);
    paint_head(canvas, chart, panel);
    for (int s = panel->count - 1; s >= 0; s--)  // the first one on top
        if (!draw_series(canvas, chart, &panel->series[s], panel->log_y, error)) return false;
    return true;
}

/* ---- the page ---- */

/* Ranges and places of all panels; returns the page's height. */
static int plan_panels(Canvas *canvas, Chart *charts, const CurvePanel *panels, int count,
                       int y)
{
    AxisRange x = {INFINITY, -INFINITY};
    TextStyle style = canvas_style(12, false, 0);
    double labels = 0;
    for (int p = 0; p < count; p++) {
        AxisRange range = {INFINITY, -INFINITY};
        find_ranges(&x, &range, panels[p].series, panels[p].count, panels[p].log_y);
        charts[p].up = axis_make(range.low, range.high, panels[p].log_y, false, p == 0 ? 6 : 4);
        for (int i = 0; i < charts[p].up.ticks; i++)
            labels = fmax(labels, canvas_measure(canvas, charts[p].up.label[i], &style));
    }
    if (x.low > 0 && x.low < 0.05 * x.high) x.low = 0;  // updates are counted from 0
    for (int p = 0; p < count; p++) {
        Chart *chart = &charts[p];
        chart->across = axis_make(x.low, x.high, false, true, 8);
        chart->until = INFINITY;
        chart->x = MARGIN + 16 + (int)ceil(labels) + TICK_GAP;
        chart->width = WIDTH - MARGIN - chart->x;
        chart->y = y + PANEL_HEAD;
        chart->height = p == 0 ? PANEL_HEIGHT : SECOND_HEIGHT;
        y += PANEL_HEAD + (p == 0 ? PANEL_HEIGHT : SECOND_HEIGHT) + PANEL_GAP;
    }
    return y - PANEL_GAP + X_TICKS + X_LABEL + MARGIN;
}

bool curves_draw(Canvas **page, const char *title, const char *subtitle,
                 const CurvePanel *panels, int count, Chart *charts, Error *error)
{
    assert(count >= 1);
    if (!canvas_new(page, error)) return false;
    Canvas *canvas = *page;
    int height =
        plan_panels(canvas, charts, panels, count, MARGIN + TITLE_HEIGHT + SUBTITLE_HEIGHT);
    if (!canvas_reserve(canvas, WIDTH, height, error)) return false;
    TextStyle head = canvas_style(22, true, WIDTH - 2 * MARGIN),
              line = canvas_style(14, false, WIDTH - 2 * MARGIN);
    canvas_text(canvas, title, MARGIN, MARGIN - 6, &head);
    canvas_text(canvas, subtitle, MARGIN, MARGIN - 6 + TITLE_HEIGHT, &line);
    for (int p = 0; p < count; p++)
        if (!paint_panel(canvas, &charts[p], &panels[p], p == count - 1, error)) return false;
    return canvas_check(canvas, error);
}

/* ---- a chart inside another page ---- */

void chart_fit(Chart *chart, const Series *series, int count)
{
    AxisRange x = {INFINITY, 1}, y = {INFINITY, -INFINITY};
    find_ranges(&x, &y, series, count, true);
    chart->across = axis_make(0, x.high, false, true, SMALL_X_TICKS);
    chart->up = axis_make(y.low, y.high, true, false, SMALL_Y_TICKS);
    chart->until = x.high;
}

bool chart_draw(Canvas *canvas, const Chart *chart, const Series *series, int count,
                Error *error)
{
    const CurvePanel panel = {.series = series, .count = count, .log_y = true};
    if (!paint_panel(canvas, chart, &panel, true, error)) return false;
    canvas_rectangle(canvas, round(place_x(chart, chart->until)), chart->y, 1, chart->height,
                     palette.muted);
    return true;
}
