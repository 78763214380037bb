/* known-maps.h -- heat maps of known numbers and hard words, and where their cells must be, for the
 * tests of what is drawn. */
#ifndef TESTS_KNOWN_MAPS_H
#define TESTS_KNOWN_MAPS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/attentionpage.h"

static inline void assert_color(Color got, Color want)
{
    if (memcmp(&got, &want, sizeof got) != 0)
        fail_msg("#%02x%02x%02x instead of #%02x%02x%02x", got.r, got.g, got.b, want.r, want.g,
                 want.b);
}

/* The corners of a cell, which no number reaches, and what lies just outside it. */
static inline void assert_cell(const Canvas *page, const HeatMapPlan *plan, int i, int j,
                               Color want)
{
    int x = plan->x + plan->left + j * plan->cell, y = plan->y + plan->top + i * plan->cell;
    int last = plan->cell - plan->gap - 1;
    assert_color(canvas_pixel(page, x, y), want);
    assert_color(canvas_pixel(page, x + last, y), want);
    assert_color(canvas_pixel(page, x, y + last), want);
    assert_color(canvas_pixel(page, x + last, y + last), want);
    if (plan->gap > 0)
        assert_color(canvas_pixel(page, x + last + 1, y),
                     theme_palette(canvas_theme(page))->page);
}

static inline void assert_map(const Canvas *page, const HeatMapPlan *plan, const HeatMap *map,
                              bool causal)
{
    Colormap colors = colormap_make(canvas_theme(page));
    assert_true(plan->x + plan->width <= canvas_width(page));
    assert_true(plan->y + plan->height <= canvas_height(page));
    assert_true(plan->label_size >= 9);
    for (int i = 0; i < map->rows; i++) {
        for (int j = 0; j < map->columns; j++) {
            float value = map->weight[i * map->columns + j];
            bool mark = map->column_marks && map->column_marks[j];
            Color want = causal && j > i && value == 0
                             ? theme_palette(canvas_theme(page))->neutral
                         : mark ? colormap_grey(&colors, value)
                                : colormap_color(&colors, value);
            assert_cell(page, plan, i, j, want);
        }
    }
}

/* Rows that sum to 1, different everywhere; above the diagonal 0 if causal. For free(). */
static inline float *make_weights(int rows, int columns, bool causal)
{
    float *weight = calloc((size_t)rows * (size_t)columns, sizeof *weight);
    assert_non_null(weight);
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        int end = causal && i + 1 < columns ? i + 1 : columns;
        for (int j = 0; j < end; j++)
            sum += weight[i * columns + j] =
                expf(-0.7f * fabsf((float)(i - j)) + 0.1f * (j % 3));
        for (int j = 0; j < end; j++) weight[i * columns + j] /= sum;
    }
    return weight;
}

static const char *const words[] = {
    "the",
    "<unk>",
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E",              // Japanese
    "\xD8\xA7\xD9\x84\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85",  // Arabic
    "e\xCC\x81\xCC\xA3\xCC\x82",
    "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4",
    "bad\xFF\xC3",
    "\xED\xA0\x80",
    "",
    "a\nb\tc\x01",
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80",
    "\xE2\x80\xAEright to left",
    "Donaudampfschifffahrtsgesellschaftskapit\xC3\xA4n",
    "</s>",
    "\xF4\x8F\xBF\xBF",
    "\xCC\x81",
    "%s%n",
    "<",
};
enum { WORDS = sizeof words / sizeof words[0] };

static inline const char **make_labels(int count)
{
    const char **labels = malloc((size_t)count * sizeof *labels);
    assert_non_null(labels);
    for (int i = 0; i < count; i++) labels[i] = words[i % WORDS];
    return labels;
}

/* A page of one large map; where (=) its place. */
static inline Canvas *draw_alone(HeatMapPlan *where, const HeatMap *map, bool causal,
                                 Theme theme)
{
    HeatMapSection section = {.large = map, .causal = causal};
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    if (!attentionpage_draw_plan(&page, &plan, NULL, NULL, &section, 1, theme, 1, &error))
        fail_msg("%s", error.text);
    *where = plan.section[0].large;
    attentionplan_free(&plan);
    return page;
}

#endif
