/* curves.c -- line charts; see curves.h.
 *
 * Ticks are at 1, 2 or 5 times a power of ten (Heckbert 1990, "Nice numbers for graph labels"). A
 * logarithmic axis has them at powers of ten and, if it spans few decades, at 2, 5 and more times
 * these. If it spans less than a factor of 3, it has linear ticks. */
#include "plots/curves.h"

enum { WIDTH = 960, MARGIN = 36, PANEL_HEIGHT = 300, SECOND_HEIGHT = 190, PANEL_GAP = 34 };
enum { TITLE_HEIGHT = 32, SUBTITLE_HEIGHT = 24, PANEL_HEAD = 30, X_TICKS = 24, X_LABEL = 22 };
enum { TICK_GAP = 8, LEGEND_LINE = 18, LEGEND_GAP = 18, MAX_DOTS = 60, PIECE = 1000 };
enum { SMALL_Y_TICKS = 3, SMALL_X_TICKS = 8 };  // of chart_draw

static bool is_drawn(const Series *series, int i, bool log)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]) && (!log || series->y[i] > 0);
}

/* ---- axes ---- */

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

/* least: the smallest step */
static void linear_ticks(Axis *axis, bool tight, int wanted, double least)
{
    double step = fmax(nice_above((axis->high - axis->low) / wanted), least);
    double first = floor(axis->low / step + 1e-9), last = ceil(axis->high / step - 1e-9);
    if (!tight) {
        axis->low = first * step;
        axis->high = last * step;
    }
    for (int i = 0; first + i <= last; i++) add_tick(axis, (first + i) * step, step);
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

/* Replaces bounds that cannot be drawn: of no point, of one number, or too far away. */
static void repair(Axis *axis)
{
    const double least = 1e-100, most = 1e100;
    if (!isfinite(axis->low) || !isfinite(axis->high)) {
        axis->low = axis->log ? 1 : 0;
        axis->high = axis->log ? 10 : 1;
    }
    axis->low = fmin(fmax(axis->low, axis->log ? least : -most), most);
    axis->high = fmin(fmax(axis->high, axis->low), most);
    double size = fabs(axis->low);
    if (axis->log && axis->high < axis->low * 1.01) {
        axis->low /= 2;
        axis->high *= 2;
    } else if (!axis->log && axis->high - axis->low <= fmax(1e-9 * size, least)) {
        double half = size > least ? 0.1 * size : 0.5;
        axis->low -= half;
        axis->high += half;
    }
}

/* Finishes an axis with about `wanted` ticks (2 to 8). updates: it ends at its bounds instead of at the
 * next ticks, which are whole numbers. A logarithmic one has a margin. */
static void make_ticks(Axis *axis, bool updates, int wanted)
{
    repair(axis);
    if (axis->most > 0 && axis->most > axis->low) {
        axis->low = fmax(axis->low, 0);
        axis->high = fmin(axis->high, axis->most);
    }
    if (axis->log) {
        double margin = pow(axis->high / axis->low, 0.05);
        axis->low /= margin;
        axis->high *= margin;
        if (axis->high >= 3 * axis->low) log_ticks(axis, wanted);
        wanted += wanted / 3;
    }
    if (axis->ticks >= 2) return;
    axis->ticks = 0;
    linear_ticks(axis, updates || axis->log, wanted, updates);
}

double axis_place(const Axis *axis, double value)
{
    if (!axis->log) return (value - axis->low) / (axis->high - axis->low);
    return (log10(value) - log10(axis->low)) / (log10(axis->high) - log10(axis->low));
}

/* up's bounds (=), and across widened to, the points of all series that are drawn. */
static void include(Axis *across, Axis *up, const Chart *chart)
{
    up->low = INFINITY, up->high = -INFINITY;
    for (const Series *s = chart->series; s < chart->series + chart->count; s++)
        for (int i = 0; i < s->count; i++) {
            if (!is_drawn(s, i, up->log)) continue;
            across->low = fmin(across->low, s->x[i]),
            across->high = fmax(across->high, s->x[i]);
            up->low = fmin(up->low, s->y[i]), up->high = fmax(up->high, s->y[i]);
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
 * that is not drawn is a gap. A long line is drawn in pieces: the time for one is quadratic. */
static void draw_series(Canvas *canvas, const Chart *chart, const Series *series)
{
    int count = series->count;
    while (count > 0 && series->x[count - 1] > chart->until) count--;
    Color color = series_color(series);
    bool dots = series->points && series->count <= MAX_DOTS;
    for (int i = 0, points = 0; i <= count; i++) {
        if (i < count && is_drawn(series, i, chart->up.log)) {
            double x = place_x(chart, series->x[i]), y = place_y(chart, series->y[i]);
            canvas_line_to(canvas, x, y);
            if (++points % PIECE == 0)
                canvas_stroke(canvas, 2, color), canvas_line_to(canvas, x, y);
            continue;
        }
        canvas_stroke(canvas, 2, color);
        for (int k = i - points; k < i; k++)
            if (dots || points == 1 || (isfinite(chart->until) && k == count - 1))
                canvas_disc(canvas, place_x(chart, series->x[k]), place_y(chart, series->y[k]),
                            3.5, color);
        points = 0;
    }
}

/* ---- one chart ---- */

/* last: of a page, with the labels of its horizontal axis. */
static void paint_axes(Canvas *canvas, const Chart *chart, bool last)
{
    TextStyle style = canvas_style(12, false, 0);
    double bottom = chart->y + chart->height;
    style.across = ALIGN_END, style.middle = true;
    for (int i = 0; i < chart->up.ticks; i++) {
        double y = round(place_y(chart, chart->up.tick[i]));
        canvas_rectangle(canvas, chart->x, y, chart->width, 1, palette.rule);
        canvas_text(canvas, chart->up.label[i], chart->x - TICK_GAP, y, style);
    }
    style.across = ALIGN_CENTRE, style.middle = false;
    for (int i = 0; i < chart->across.ticks; i++) {
        double x = round(place_x(chart, chart->across.tick[i]));
        canvas_rectangle(canvas, x, bottom, 1, 5, palette.rule);
        if (last) canvas_text(canvas, chart->across.label[i], x, bottom + 6, style);
    }
    canvas_rectangle(canvas, chart->x, bottom, chart->width, 1, palette.rule);
    if (last && chart->x_label)
        canvas_text(canvas, chart->x_label, chart->x + chart->width / 2, bottom + X_TICKS,
                    style);
    style.angle = 90;
    style.max_width = chart->height;
    if (chart->y_label)
        canvas_text(canvas, chart->y_label, MARGIN - 8, chart->y + chart->height / 2, style);
}

/* The names of the series, above the chart at the right, and its title at the left. */
static void paint_head(Canvas *canvas, const Chart *chart)
{
    double x = chart->x + chart->width, y = chart->y - 16;
    TextStyle style = canvas_style(13, false, 200);
    style.across = ALIGN_END;
    style.middle = true;
    for (int s = chart->count - 1; s >= 0; s--) {
        const Series *series = &chart->series[s];
        if (!series->label || x < chart->x + 200) continue;
        canvas_text(canvas, series->label, x, y, style);
        x -= canvas_measure(canvas, series->label, style) + 7;
        canvas_rectangle(canvas, round(x - LEGEND_LINE), round(y - 1), LEGEND_LINE, 3,
                         series_color(series));
        x -= LEGEND_LINE + LEGEND_GAP;
    }
    style = canvas_style(14, true, fmax(x - chart->x, 40));
    style.middle = true;
    if (chart->title) canvas_text(canvas, chart->title, chart->x, y, style);
}

static void paint_chart(Canvas *canvas, const Chart *chart, bool last)
{
    paint_axes(canvas, chart, last);
    paint_head(canvas, chart);
    for (int s = chart->count - 1; s >= 0; s--)  // the first one on top
        draw_series(canvas, chart, &chart->series[s]);
}

/* ---- the page ---- */

/* Ranges and places of all charts, from y on; returns the page's height. */
static int plan_charts(Canvas *canvas, Chart *charts, int count, int y)
{
    Axis across = {.low = INFINITY, .high = -INFINITY};
    double labels = 0;
    for (int p = 0; p < count; p++) {
        Axis *up = &charts[p].up;
        include(&across, up, &charts[p]);
        make_ticks(up, false, p == 0 ? 6 : 4);
        for (int i = 0; i < up->ticks; i++)
            labels =
                fmax(labels, canvas_measure(canvas, up->label[i], canvas_style(12, false, 0)));
    }
    if (across.low > 0 && across.low < 0.05 * across.high)
        across.low = 0;  // updates are counted from 0
    make_ticks(&across, true, 8);
    for (int p = 0; p < count; p++) {
        Chart *chart = &charts[p];
        chart->across = across;
        chart->until = INFINITY;
        chart->x = MARGIN + 16 + (int)ceil(labels) + TICK_GAP;
        chart->width = WIDTH - MARGIN - chart->x;
        chart->y = y + PANEL_HEAD;
        chart->height = p == 0 ? PANEL_HEIGHT : SECOND_HEIGHT;
        y = (int)(chart->y + chart->height) + PANEL_GAP;
    }
    return y - PANEL_GAP + X_TICKS + X_LABEL + MARGIN;
}

bool curves_draw(Canvas **page, const char *title, const char *subtitle, Chart *charts,
                 int count, Error *error)
{
    if (!canvas_new(page, error)) return false;
    Canvas *canvas = *page;
    int height = plan_charts(canvas, charts, count, MARGIN + TITLE_HEIGHT + SUBTITLE_HEIGHT);
    if (!canvas_reserve(canvas, WIDTH, height, error)) return false;
    canvas_text(canvas, title, MARGIN, MARGIN - 6, canvas_style(22, true, WIDTH - 2 * MARGIN));
    canvas_text(canvas, subtitle, MARGIN, MARGIN - 6 + TITLE_HEIGHT,
                canvas_style(14, false, WIDTH - 2 * MARGIN));
    for (int p = 0; p < count; p++) paint_chart(canvas, &charts[p], p == count - 1);
    return true;
}

/* ---- a chart inside another page ---- */

void chart_fit(Chart *chart)
{
    chart->across = (Axis){.low = INFINITY, .high = -INFINITY};
    chart->up.log = true;
    include(&chart->across, &chart->up, chart);
    chart->across.low = 0;
    chart->across.high = chart->until = fmax(chart->across.high, 1);
    make_ticks(&chart->across, true, SMALL_X_TICKS);
    make_ticks(&chart->up, false, SMALL_Y_TICKS);
}

void chart_draw(Canvas *canvas, const Chart *chart)
{
    paint_chart(canvas, chart, true);
    canvas_rectangle(canvas, round(place_x(chart, chart->until)), chart->y, 1, chart->height,
                     palette.muted);
}
