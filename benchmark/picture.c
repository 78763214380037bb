/* picture.c -- small multiples (Tufte 1983): five columns side by side over the same two scales.
 *
 *   tokens/s     logarithmic, as the values across are: half the speed is the same step down
 *                everywhere, and a cost in proportion to x is a straight line
 *   % of peak    linear from 0
 *
 * The points stand at the values that were measured, and these are the ticks. */
#include "benchmark/picture.h"

#include <math.h>
#include <stdio.h>

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/png.h"

enum {
    MARGIN = 36,
    COLUMN = 228,
    GAP = 26,
    LABELS = 62,
    HEAD = 140,
    HEIGHT = 250,
    BETWEEN = 26,
    FOOT = 74
};

typedef struct Panel {
    double left, top, width, height;
    Axis x, y;
} Panel;

static TextStyle text_style(double size, bool bold, bool ink)
{
    const Palette *palette = theme_palette(THEME_LIGHT);
    return (TextStyle){
        .size = size, .bold = bold, .color = ink ? palette->ink : palette->muted};
}

static double place_x(const Panel *panel, double x)
{
    const double air = 12;  // between the frame and the outer points
    return panel->left + air + (panel->width - 2 * air) * axis_place(&panel->x, x);
}

static double place_y(const Panel *panel, double y)
{
    return panel->top + panel->height * (1 - axis_place(&panel->y, y));
}

/* "500", "1k", "32k" */
static void short_number(char text[16], int value)
{
    if (value >= 1000 && value % 1000 == 0) snprintf(text, 16, "%dk", value / 1000);
    else snprintf(text, 16, "%d", value);
}

static void paint_grid(Canvas *canvas, const Panel *panel, bool labels)
{
    Color rule = theme_palette(THEME_LIGHT)->rule;
    TextStyle style = text_style(12, false, false);
    style.across = ALIGN_END;
    style.down = ALIGN_CENTRE;
    for (int i = 0; i < panel->y.ticks; i++) {
        double y = round(place_y(panel, panel->y.tick[i]));
        canvas_rectangle(canvas, panel->left, y, panel->width, 1, rule);
        if (labels) canvas_text(canvas, panel->y.label[i], panel->left - 8, y, &style);
    }
}

static void paint_ticks(Canvas *canvas, const Panel *panel, const ScalePoint *point, int count,
                        const char *unit)
{
    TextStyle style = text_style(12, false, false);
    double bottom = panel->top + panel->height;
    style.across = ALIGN_CENTRE;
    for (int i = 0; i < count; i++) {
        char text[16];
        short_number(text, point[i].value);
        canvas_text(canvas, text, place_x(panel, point[i].value), bottom + 8, &style);
    }
    canvas_text(canvas, unit, panel->left + panel->width / 2, bottom + 30, &style);
}

static void paint_curve(Canvas *canvas, const Panel *panel, const Scaling *scaling, Scale scale,
                        bool share)
{
    Color color = theme_palette(THEME_LIGHT)->series[share];
    double x[MOST_POINTS], y[MOST_POINTS];
    int count = scaling->count[scale];
    for (int i = 0; i < count; i++) {
        const ScalePoint *point = &scaling->point[scale][i];
        x[i] = place_x(panel, point->value);
        y[i] = place_y(panel,
                       share ? 100 * point->result.rate.share : scaling_speed(scaling, point));
    }
    canvas_polyline(canvas, x, y, count, 2, color);
    for (int i = 0; i < count; i++) {
        canvas_disc(canvas, x[i], y[i], 5, theme_palette(THEME_LIGHT)->page);
        canvas_disc(canvas, x[i], y[i], 3.5, color);
    }
}

/* The axes that all columns share. */
static void find_scales(Axis *speed, Axis *share, const Scaling *scaling)
{
    double low = INFINITY, high = 0, most = 0;
    for (int s = 0; s < SCALES; s++)
        for (int i = 0; i < scaling->count[s]; i++) {
            const ScalePoint *point = &scaling->point[s][i];
            double tokens = scaling_speed(scaling, point);
            low = fmin(low, tokens);
            high = fmax(high, tokens);
            most = fmax(most, 100 * point->result.rate.share);
        }
    *speed = axis_make(low, high, true, false, 5);
    *share = axis_make(0, most > 100 ? most : 100, false, false, 5);
}

static void paint_head(Canvas *canvas, const Scaling *scaling)
{
    TextStyle title = text_style(22, true, true), sub = text_style(14, false, false);
    char text[2][256];
    snprintf(text[0], sizeof text[0],
             "The tiny model (d 128, 4 + 4 layers, vocabulary 10,000, 8,000 tokens an update), "
             "%d thread%s, one number changed at a time",
             scaling->threads, scaling->threads > 1 ? "s" : "");
    snprintf(
        text[1], sizeof text[1],
        "Above: source and target tokens a second where sgemm reaches %.0f GFLOP/s a thread, "
        "the median of this run. Below: the share of sgemm's speed that training reached.",
        scaling_peak(scaling) / 1e9);
    canvas_text(canvas, "How the cost of training grows", MARGIN, MARGIN - 6, &title);
    canvas_text(canvas, text[0], MARGIN, MARGIN + 26, &sub);
    canvas_text(canvas, text[1], MARGIN, MARGIN + 46, &sub);
}

static void paint(Canvas *canvas, const Scaling *scaling)
{
    Axis speed, share;
    find_scales(&speed, &share, scaling);
    paint_head(canvas, scaling);
    TextStyle side = text_style(12, false, false), head = text_style(14, true, true);
    side.angle = 90;
    side.across = ALIGN_CENTRE;
    side.down = ALIGN_CENTRE;
    for (int row = 0; row < 2; row++)
        canvas_text(canvas, row ? "% of sgemm peak" : "tokens/s", MARGIN - 2,
                    HEAD + row * (HEIGHT + BETWEEN) + HEIGHT / 2.0, &side);
    for (int s = 0; s < SCALES; s++) {
        const ScalePoint *point = scaling->point[s];
        int count = scaling->count[s];
        Panel panel = {
            .left = MARGIN + LABELS + s * (COLUMN + GAP), .width = COLUMN, .height = HEIGHT};
        panel.x = axis_make(point[0].value, point[count - 1].value,
                            s != SCALE_THREADS || count > 2, true, 8);
        canvas_text(canvas, scale_titles[s], panel.left, HEAD - 26, &head);
        for (int row = 0; row < 2; row++) {
            panel.top = HEAD + row * (HEIGHT + BETWEEN);
            panel.y = row ? share : speed;
            paint_grid(canvas, &panel, s == 0);
            paint_curve(canvas, &panel, scaling, (Scale)s, row);
        }
        paint_ticks(canvas, &panel, point, count, scale_units[s]);
    }
}

bool picture_scaling(const char *path, const Scaling *scaling, Error *error)
{
    Canvas *canvas;
    int width = MARGIN + LABELS + SCALES * COLUMN + (SCALES - 1) * GAP + MARGIN;
    int height = HEAD + 2 * HEIGHT + BETWEEN + FOOT;
    if (!canvas_new(&canvas, THEME_LIGHT, error)) return false;
    bool good = canvas_reserve(canvas, width, height, error);
    if (good) {
        paint(canvas, scaling);
        PngText title = {"Title", "How the cost of training grows"};
        good = canvas_check(canvas, error) && png_save_canvas(path, canvas, &title, 1, error);
    }
    canvas_free(canvas);
    return good;
}
