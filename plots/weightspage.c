/* weightspage.c -- matrices before and after training; see weightspage.h. */
#include "plots/weightspage.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 32,
    SIDE = 256,
    MOST_CELLS = 128,
    GAP = 26,
    TITLE = 64,
    NAME = 26,
    CAPTION = 22
};
enum { CHART_GAP = 56, CHART_HEIGHT = 130, CHART_LEFT = 48, CHART_BELOW = 46 };

static const double DEVIATIONS = 2.5;  // of the larger matrix: where the colours end

static double deviation(const float *x, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += (double)x[i] * (double)x[i];
    return count ? sqrt(squares / (double)count) : 0;
}

static uint8_t mix(uint8_t from, uint8_t to, double t)
{
    return (uint8_t)lround(from + (to - from) * t);
}

/* The colour of a value: -1 is the second series' colour, 0 the page's, 1 the first series'. */
static Color diverging(const Palette *palette, double value)
{
    Color from = palette->page, to = palette->series[value < 0];
    double t = fmin(fabs(value), 1);
    if (!isfinite(value)) return palette->invalid;
    return (Color){mix(from.r, to.r, t), mix(from.g, to.g, t), mix(from.b, to.b, t)};
}

static double mean_of(const float *x, int columns, int row, int last_row, int column,
                      int last_column)
{
    double sum = 0;
    for (int i = row; i < last_row; i++)
        for (int j = column; j < last_column; j++)
            sum += (double)x[(size_t)i * (size_t)columns + (size_t)j];
    return sum / ((double)(last_row - row) * (last_column - column));
}

/* A matrix as SIDE by SIDE pixels, with at most MOST_CELLS cells a side. */
static void paint(Canvas *canvas, int x, int y, const float *at, int rows, int columns,
                  double limit)
{
    const Palette *palette = theme_palette(canvas_theme(canvas));
    int down = rows < MOST_CELLS ? rows : MOST_CELLS;
    int across = columns < MOST_CELLS ? columns : MOST_CELLS;
    for (int i = 0; i < down; i++)
        for (int j = 0; j < across; j++) {
            double value = mean_of(at, columns, i * rows / down, (i + 1) * rows / down,
                                   j * columns / across, (j + 1) * columns / across);
            int top = y + i * SIDE / down, left = x + j * SIDE / across;
            canvas_rectangle(canvas, left, top, x + (j + 1) * SIDE / across - left,
                             y + (i + 1) * SIDE / down - top,
                             diverging(palette, limit > 0 ? value / limit : 0));
        }
}

static void draw_column(Canvas *canvas, int x, int y, const WeightsColumn *c)
{
    TextStyle name = canvas_style(canvas, 15, true, 0),
              small = canvas_style(canvas, 12, false, 0);
    size_t count = (size_t)c->rows * (size_t)c->columns;
    double before = deviation(c->before, count), after = deviation(c->after, count);
    double limit = DEVIATIONS * fmax(before, after);
    char text[128];
    canvas_text(canvas, c->name, x, y, &name);
    y += NAME;
    paint(canvas, x, y, c->before, c->rows, c->columns, limit);
    y += SIDE;
    snprintf(text, sizeof text, "before: root mean square %.3f", before);
    canvas_text(canvas, text, x, y + 4, &small);
    y += CAPTION + 8;
    paint(canvas, x, y, c->after, c->rows, c->columns, limit);
    y += SIDE;
    snprintf(text, sizeof text, "after: %.3f; full colour at ±%.2f", after, limit);
    canvas_text(canvas, text, x, y + 4, &small);
}

static bool draw(Canvas *canvas, const WeightsPage *page, Error *error)
{
    int top = MARGIN + TITLE, maps = NAME + 2 * SIDE + 2 * CAPTION + 8;
    int width = 2 * MARGIN + page->count * (SIDE + GAP) - GAP;
    int chart_y = top + maps + CHART_GAP;
    if (!canvas_reserve(canvas, width, chart_y + CHART_HEIGHT + CHART_BELOW + MARGIN / 2,
                        error))
        return false;
    TextStyle head = canvas_style(canvas, 20, true, width - 2 * MARGIN),
              line = canvas_style(canvas, 13, false, width - 2 * MARGIN);
    canvas_text(canvas, page->title, MARGIN, MARGIN - 6, &head);
    canvas_text(canvas, page->subtitle, MARGIN, MARGIN + 24, &line);
    for (int c = 0; c < page->count; c++)
        draw_column(canvas, MARGIN + c * (SIDE + GAP), top, &page->columns[c]);
    canvas_text(canvas, "Norm of the gradient", MARGIN, chart_y - 30, &line);
    line.across = ALIGN_CENTRE;
    canvas_text(canvas, "update", width / 2.0, chart_y + CHART_HEIGHT + 26, &line);
    Chart chart = {.x = MARGIN + CHART_LEFT,
                   .y = chart_y,
                   .width = width - 2 * MARGIN - CHART_LEFT,
                   .height = CHART_HEIGHT};
    chart_fit(&chart, page->norms, page->count);
    return chart_draw(canvas, &chart, page->norms, page->count, error) &&
           canvas_check(canvas, error);
}

bool weightspage_draw(Canvas **canvas, const WeightsPage *page, Theme theme, Error *error)
{
    return canvas_new(canvas, theme, error) &&
           (draw(*canvas, page, error) || canvas_drop(canvas));
}
