/* curves.c -- panels, one above the other, over one range of x.
 *
 * A long series is thinned to what can be seen: of the points that fall into one column of pixels,
 * the first, the lowest, the highest and the last (M4: Jugel et al. 2014, "M4: a visualization-
 * oriented time series data aggregation"). The line drawn through these covers the same pixels. */
#include "plots/curves.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 960, MARGIN = 36, PANEL_HEIGHT = 300, SECOND_HEIGHT = 190, PANEL_GAP = 34 };
enum { TITLE_HEIGHT = 32, SUBTITLE_HEIGHT = 24, PANEL_HEAD = 30, X_TICKS = 24, X_LABEL = 22 };
enum { TICK_GAP = 8, LEGEND_LINE = 18, LEGEND_GAP = 18, MAX_PANELS = 16, MAX_DOTS = 60 };

static bool is_drawn(const CurvePanel *panel, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!panel->log_y || y > 0);
}

/* ---- ranges ---- */

typedef struct Range {
    double low, high;  // infinite the wrong way round while empty
} Range;

static void range_add(Range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static void find_ranges(const CurvePanel *panel, Range *x, Range *y)
{
    for (int s = 0; s < panel->count; s++) {
        const Series *series = &panel->series[s];
        for (int i = 0; i < series->count; i++) {
            if (!is_drawn(panel, series->x[i], series->y[i])) continue;
            range_add(x, series->x[i]);
            range_add(y, series->y[i]);
        }
    }
}

/* ---- one series ---- */

typedef struct Trace {
    Canvas *canvas;
    const CurvePlan *plan;
    Color color;
    double *x, *y;  // [room], pixels of the piece of line that is being collected
    int count;
} Trace;

static double place_x(const CurvePlan *plan, double x)
{
    return plan->left + plan->width * axis_place(&plan->x, x);
}

static double place_y(const CurvePlan *plan, double y)
{
    return plan->top + plan->height * (1 - axis_place(&plan->y, y));
}

static void trace_add(Trace *trace, double x, double y)
{
    trace->x[trace->count] = x;
    trace->y[trace->count++] = y;
}

static void trace_end(Trace *trace)
{
    if (trace->count == 1)
        canvas_disc(trace->canvas, trace->x[0], trace->y[0], 3.5, trace->color);
    else canvas_polyline(trace->canvas, trace->x, trace->y, trace->count, 2, trace->color);
    trace->count = 0;
}

/* Adds the points first..last-1, all in one column of pixels: those of them that matter. */
static void trace_column(Trace *trace, const Series *series, int first, int last)
{
    int keep[4] = {first, first, first, last - 1};
    for (int i = first; i < last; i++) {
        if (series->y[i] < series->y[keep[1]]) keep[1] = i;
        if (series->y[i] > series->y[keep[2]]) keep[2] = i;
    }
    if (keep[1] > keep[2]) {
        int low = keep[1];
        keep[1] = keep[2];
        keep[2] = low;
    }
    for (int k = 0; k < 4; k++) {
        if (k > 0 && keep[k] == keep[k - 1]) continue;
        trace_add(trace, place_x(trace->plan, series->x[keep[k]]),
                  place_y(trace->plan, series->y[keep[k]]));
    }
}

static void trace_series(Trace *trace, const CurvePanel *panel, const Series *series)
{
    int i = 0;
    while (i < series->count) {
        if (!is_drawn(panel, series->x[i], series->y[i])) {
            if (trace->count > 0) trace_end(trace);
            i++;
            continue;
        }
        int first = i;
        double column = floor(place_x(trace->plan, series->x[i]));
        while (i < series->count && is_drawn(panel, series->x[i], series->y[i]) &&
               floor(place_x(trace->plan, series->x[i])) == column)
            i++;
        trace_column(trace, series, first, i);
    }
    if (trace->count > 0) trace_end(trace);
    for (int k = 0; series->points && series->count <= MAX_DOTS && k < series->count; k++) {
        if (is_drawn(panel, series->x[k], series->y[k]))
            canvas_disc(trace->canvas, place_x(trace->plan, series->x[k]),
                        place_y(trace->plan, series->y[k]), 3.5, trace->color);
    }
}

/* ---- one panel ---- */

static Color series_color(Canvas *canvas, const Series *series)
{
    int color = series->color % PALETTE_SERIES;
    return theme_palette(canvas_theme(canvas))->series[color < 0 ? 0 : color];
}

static void paint_axes(Canvas *canvas, const CurvePlan *plan, const CurvePanel *panel,
                       bool last)
{
    Color rule = theme_palette(canvas_theme(canvas))->rule;
    TextStyle style = canvas_style(canvas, 12, false, 0);
    style.across = ALIGN_END;
    style.down = ALIGN_CENTRE;
    double bottom = plan->top + plan->height;
    for (int i = 0; i < plan->y.ticks; i++) {
        double y = round(place_y(plan, plan->y.tick[i]));
        canvas_rectangle(canvas, plan->left, y, plan->width, 1, rule);
        canvas_text(canvas, plan->y.label[i], plan->left - TICK_GAP, y, &style);
    }
    style.across = ALIGN_CENTRE;
    style.down = ALIGN_START;
    for (int i = 0; i < plan->x.ticks; i++) {
        double x = round(place_x(plan, plan->x.tick[i]));
        canvas_rectangle(canvas, x, bottom, 1, 5, rule);
        if (last) canvas_text(canvas, plan->x.label[i], x, bottom + 6, &style);
    }
    canvas_rectangle(canvas, plan->left, bottom, plan->width, 1, rule);
    if (last && panel->x_label)
        canvas_text(canvas, panel->x_label, plan->left + plan->width / 2.0, bottom + X_TICKS,
                    &style);
    if (panel->y_label) {
        style.angle = 90;
        style.max_width = plan->height;
        canvas_text(canvas, panel->y_label, MARGIN - 8, plan->top + plan->height / 2.0, &style);
    }
}

/* The names of the series, above the panel at the right, and its title at the left. */
static void paint_head(Canvas *canvas, const CurvePlan *plan, const CurvePanel *panel)
{
    double x = plan->left + plan->width, y = plan->top - 16;
    TextStyle style = canvas_style(canvas, 13, false, 0);
    style.across = ALIGN_END;
    style.down = ALIGN_CENTRE;
    style.max_width = 200;
    for (int s = panel->count - 1; s >= 0; s--) {
        const Series *series = &panel->series[s];
        if (!series->label || x < plan->left + 200) continue;
        canvas_text(canvas, series->label, x, y, &style);
        x -= canvas_measure(canvas, series->label, &style).width + 7;
        canvas_rectangle(canvas, round(x - LEGEND_LINE), round(y - 1), LEGEND_LINE, 3,
                         series_color(canvas, series));
        x -= LEGEND_LINE + LEGEND_GAP;
    }
    if (!panel->title) return;
    style = canvas_style(canvas, 14, true, 0);
    style.down = ALIGN_CENTRE;
    style.max_width = fmax(x - plan->left, 40);
    canvas_text(canvas, panel->title, plan->left, y, &style);
}

static bool paint_panel(Canvas *canvas, const CurvePlan *plan, const CurvePanel *panel,
                        bool last, Error *error)
{
    paint_axes(canvas, plan, panel, last);
    paint_head(canvas, plan, panel);
    size_t room = 4 * ((size_t)plan->width + 2);  // four points a column of pixels
    Trace trace = {.canvas = canvas, .plan = plan};
    trace.x = malloc(2 * room * sizeof *trace.x);
    if (!trace.x) return error_set(error, "not enough memory for a picture");
    trace.y = trace.x + room;
    for (int s = panel->count - 1; s >= 0; s--) {  // the first one on top
        trace.color = series_color(canvas, &panel->series[s]);
        trace_series(&trace, panel, &panel->series[s]);
    }
    free(trace.x);
    return true;
}

/* ---- the page ---- */

/* Ranges and places of all panels; returns the page's height. */
static int plan_panels(Canvas *canvas, CurvePlan *plans, const CurvePanel *panels, int count,
                       int y)
{
    Range x = {INFINITY, -INFINITY};
    TextStyle style = canvas_style(canvas, 12, false, 0);
    double labels = 0;
    for (int p = 0; p < count; p++) {
        Range range = {INFINITY, -INFINITY};
        find_ranges(&panels[p], &x, &range);
        plans[p].y = axis_make(range.low, range.high, panels[p].log_y, false, p == 0 ? 6 : 4);
        for (int i = 0; i < plans[p].y.ticks; i++)
            labels = fmax(labels, canvas_measure(canvas, plans[p].y.label[i], &style).width);
    }
    if (x.low > 0 && x.low < 0.05 * x.high) x.low = 0;  // updates are counted from 0
    for (int p = 0; p < count; p++) {
        plans[p].x = axis_make(x.low, x.high, false, true, 8);
        plans[p].left = MARGIN + 16 + (int)ceil(labels) + TICK_GAP;
        plans[p].width = WIDTH - MARGIN - plans[p].left;
        plans[p].top = y + PANEL_HEAD;
        plans[p].height = p == 0 ? PANEL_HEIGHT : SECOND_HEIGHT;
        y = plans[p].top + plans[p].height + PANEL_GAP;
    }
    return y - PANEL_GAP + X_TICKS + X_LABEL + MARGIN;
}

static bool draw(Canvas *canvas, CurvePlan *plans, const char *title, const char *subtitle,
                 const CurvePanel *panels, int count, Error *error)
{
    int head = MARGIN + (title ? TITLE_HEIGHT : 0) + (subtitle ? SUBTITLE_HEIGHT : 0);
    int height = plan_panels(canvas, plans, panels, count, head);
    if (!canvas_reserve(canvas, WIDTH, height, error)) return false;
    int y = MARGIN - 6;
    if (title) {
        TextStyle style = canvas_style(canvas, 22, true, 0);
        style.max_width = WIDTH - 2 * MARGIN;
        canvas_text(canvas, title, MARGIN, y, &style);
        y += TITLE_HEIGHT;
    }
    if (subtitle) {
        TextStyle style = canvas_style(canvas, 14, false, 0);
        style.max_width = WIDTH - 2 * MARGIN;
        canvas_text(canvas, subtitle, MARGIN, y, &style);
    }
    for (int p = 0; p < count; p++) {
        if (!paint_panel(canvas, &plans[p], &panels[p], p == count - 1, error)) return false;
    }
    return canvas_check(canvas, error);
}

bool curves_draw(Canvas **page, const char *title, const char *subtitle,
                 const CurvePanel *panels, int count, Theme theme, CurvePlan *plans,
                 Error *error)
{
    *page = NULL;
    if (count < 1 || count > MAX_PANELS)
        return error_set(error, "a chart has 1 to %d panels, not %d", MAX_PANELS, count);
    CurvePlan own[MAX_PANELS] = {0};
    Canvas *canvas;
    if (!canvas_new(&canvas, theme, error)) return false;
    if (!draw(canvas, own, title, subtitle, panels, count, error)) {
        canvas_free(canvas);
        return false;
    }
    for (int p = 0; plans && p < count; p++) plans[p] = own[p];
    *page = canvas;
    return true;
}
