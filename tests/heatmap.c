/* Heat maps and the page of attention: every cell is where the plan says and has the colour of
 * its number; any size and any label gives a picture or an error. */
#include "plots/attentionpage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void assert_color(Color got, Color want)
{
    if (memcmp(&got, &want, sizeof got) != 0)
        fail_msg("#%02x%02x%02x instead of #%02x%02x%02x", got.r, got.g, got.b, want.r, want.g,
                 want.b);
}

/* The corners of a cell, which no number reaches, and what lies just outside it. */
static void assert_cell(const Canvas *page, const HeatMapPlan *plan, int i, int j, Color want)
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

static void assert_map(const Canvas *page, const HeatMapPlan *plan, const HeatMap *map,
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
static float *make_weights(int rows, int columns, bool causal)
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

static const char **make_labels(int count)
{
    const char **labels = malloc((size_t)count * sizeof *labels);
    assert_non_null(labels);
    for (int i = 0; i < count; i++) labels[i] = words[i % WORDS];
    return labels;
}

static void test_known_matrix(void **state)
{
    (void)state;
    static const float weight[] = {0, 0.25f, 0.5f, 0.75f, 1, NAN, -3, 7};
    static const char *const rows[] = {"a", "</s>"}, *const columns[] = {"x", "y", "z", "</s>"};
    HeatMap map = {.weight = weight, .rows = 2, .columns = 4, .row_labels = rows,
                   .column_labels = columns, .title = "title", .note = "note"};
    for (Theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++) {
        Error error = {0};
        Canvas *page;
        HeatMapPlan plan;
        assert_true(heatmap_draw(&page, &map, false, theme, &plan, &error));
        Colormap colors = colormap_make(theme);
        assert_map(page, &plan, &map, false);
        assert_cell(page, &plan, 0, 0, colors.color[0]);
        assert_cell(page, &plan, 0, 2, colors.color[128]);
        assert_cell(page, &plan, 1, 0, colors.color[255]);
        assert_cell(page, &plan, 1, 1, theme_palette(theme)->invalid);
        assert_cell(page, &plan, 1, 2, colors.color[0]);
        assert_cell(page, &plan, 1, 3, colors.color[255]);
        canvas_free(page);
    }
}

/* Large cells show their numbers, small ones are plain. */
static void test_numbers_in_cells(void **state)
{
    (void)state;
    for (int size = 3; size <= 60; size += 57) {
        float *weight = make_weights(size, size, false);
        HeatMap map = {.weight = weight, .rows = size, .columns = size};
        Error error = {0};
        Canvas *page;
        HeatMapPlan plan;
        assert_true(heatmap_draw(&page, &map, false, THEME_LIGHT, &plan, &error));
        Colormap colors = colormap_make(THEME_LIGHT);
        Color plain = colormap_color(&colors, weight[0]);
        int inked = 0;
        for (int y = 0; y < plan.cell - plan.gap; y++) {
            for (int x = 0; x < plan.cell - plan.gap; x++) {
                Color c = canvas_pixel(page, plan.x + plan.left + x, plan.y + plan.top + y);
                inked += memcmp(&c, &plain, sizeof c) != 0;
            }
        }
        assert_int_equal(plan.number_size > 0, size == 3);
        if (size == 3)
            assert_true(inked > 20);
        else
            assert_int_equal(inked, 0);
        canvas_free(page);
        free(weight);
    }
}

static void test_sizes_and_labels(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 200}, {200, 1}, {200, 200}, {18, 18}, {3, 50}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int rows = sizes[s][0], columns = sizes[s][1];
        float *weight = make_weights(rows, columns, false);
        const char **row_labels = make_labels(rows), **column_labels = make_labels(columns);
        HeatMap map = {.weight = weight, .rows = rows, .columns = columns,
                       .row_labels = row_labels, .column_labels = column_labels, .title = words[s + 2]};
        Error error = {0};
        Canvas *page;
        HeatMapPlan plan;
        if (!heatmap_draw(&page, &map, false, (Theme)(s % 2), &plan, &error))
            fail_msg("%s", error.text);
        assert_map(page, &plan, &map, false);
        canvas_free(page);
        free(weight);
        free(row_labels);
        free(column_labels);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    float weight = 1;
    Canvas *page = NULL;
    Error error = {0};
    HeatMap none = {.weight = &weight, .columns = 1},
            no_weights = {.rows = 1, .columns = 1};
    assert_false(heatmap_draw(&page, &none, false, THEME_LIGHT, NULL, &error));
    assert_non_null(strstr(error.text, "0 rows"));
    assert_false(heatmap_draw(&page, &no_weights, false, THEME_LIGHT, NULL, &error));
    HeatMapSection section = {.title = "t", .maps = &none, .layers = 1, .heads = 1};
    assert_false(attentionpage_draw(&page, NULL, NULL, &section, 1, THEME_LIGHT, 1, &error));
    assert_false(attentionpage_draw(&page, NULL, NULL, &section, 0, THEME_LIGHT, 1, &error));
    section.layers = 0;
    assert_false(attentionpage_draw(&page, NULL, NULL, &section, 1, THEME_LIGHT, 1, &error));
    section.layers = -1;
    assert_false(attentionpage_draw(&page, NULL, NULL, &section, 1, THEME_LIGHT, 1, &error));
    assert_null(page);
}

static void assert_apart(const HeatMapPlan *a, const HeatMapPlan *b)
{
    int ax = a->x + a->left, ay = a->y + a->top, bx = b->x + b->left, by = b->y + b->top;
    int aw = a->width - a->left - a->overhang, bw = b->width - b->left - b->overhang;
    int ah = a->height - a->top, bh = b->height - b->top;
    assert_true(ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay);
}

/* Three sections of layers x heads maps, the first with a large one; draws and checks all. */
static void check_page(int rows, int columns, int layers, int heads, Theme theme)
{
    int maps = layers * heads;
    float *weight[3] = {make_weights(rows, columns, false),
                        make_weights(columns, columns, false), make_weights(rows, rows, true)};
    const char **target = make_labels(rows), **source = make_labels(columns);
    bool *marks = calloc((size_t)columns, sizeof *marks);
    HeatMap large = {.weight = weight[0], .rows = rows, .columns = columns, .row_labels = target,
                     .column_labels = source, .column_marks = marks,
                     .title = "mean", .note = "%s"};
    HeatMapSection sections[3] = {
        {.title = "Encoder-decoder attention",
         .caption = "row: the word being written; column: a source word",
         .large = &large},
        {.title = "Encoder self-attention"},
        {.title = "Decoder self-attention", .causal = true}};
    assert_non_null(marks);
    marks[columns - 1] = true;
    HeatMap *all = calloc(3 * (size_t)maps, sizeof *all);
    assert_non_null(all);
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < maps; i++)
            all[s * maps + i] = (HeatMap){.weight = weight[s], .rows = s == 1 ? columns : rows,
                                          .columns = s == 2 ? rows : columns, .note = "0.4 bits",
                                          .column_marks = s < 2 ? marks : NULL,
                                          .outlined = i == maps - 1};
        sections[s].maps = all + s * maps;
        sections[s].layers = layers;
        sections[s].heads = heads;
    }
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    if (!attentionpage_draw_plan(&page, &plan, "title", words[2], sections, 3, theme, 1, &error))
        fail_msg("%s", error.text);
    assert_int_equal(plan.width, canvas_width(page));
    assert_int_equal(plan.height, canvas_height(page));
    assert_map(page, &plan.section[0].large, &large, false);
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < maps; i++) {
            const HeatMapPlan *map = &plan.section[s].maps[i];
            assert_map(page, map, &sections[s].maps[i], s == 2);
            if (i > 0) assert_apart(&map[-1], map);
            if (i >= heads) assert_apart(&map[-heads], map);
            if (s == 0) assert_apart(&plan.section[0].large, map);
            if (s > 0) assert_true(map->y > plan.section[s - 1].maps[maps - 1].y);
        }
    }
    attentionplan_free(&plan);
    canvas_free(page);
    for (int s = 0; s < 3; s++) free(weight[s]);
    free(all);
    free(marks);
    free(target);
    free(source);
}

static void test_pages(void **state)
{
    (void)state;
    check_page(6, 5, 2, 4, THEME_LIGHT);
    check_page(6, 5, 2, 4, THEME_DARK);
    check_page(1, 1, 1, 1, THEME_LIGHT);
    check_page(30, 28, 3, 4, THEME_LIGHT);
    check_page(2, 70, 1, 2, THEME_DARK);
    check_page(200, 180, 2, 2, THEME_LIGHT);
}

/* The best map has a frame outside its cells, and no other map has one. */
static void test_frame(void **state)
{
    (void)state;
    enum { N = 5 };
    float *weight = make_weights(N, N, false);
    HeatMap maps[4];
    for (int i = 0; i < 4; i++)
        maps[i] = (HeatMap){.weight = weight, .rows = N, .columns = N, .outlined = i == 2};
    HeatMapSection section = {.maps = maps, .layers = 2, .heads = 2};
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    assert_true(
        attentionpage_draw_plan(&page, &plan, NULL, NULL, &section, 1, THEME_DARK, 1, &error));
    const Palette *palette = theme_palette(THEME_DARK);
    for (int i = 0; i < 4; i++) {
        const HeatMapPlan *map = &plan.section[0].maps[i];
        int x = map->x + map->left, y = map->y + map->top + N * map->cell / 2;
        int right = x + N * map->cell - map->gap;
        Color want = i == 2 ? palette->series[1] : palette->page;
        assert_color(canvas_pixel(page, x - 3, y), want);
        assert_color(canvas_pixel(page, right + 2, y), want);
        assert_color(canvas_pixel(page, x - 1, y), palette->page);
        assert_color(canvas_pixel(page, right + 5, y), palette->page);
    }
    attentionplan_free(&plan);
    canvas_free(page);
    free(weight);
}

/* Scale 3 has every pixel of scale 1 three times each way, where no letters are. */
static void test_scale(void **state)
{
    (void)state;
    enum { N = 6 };
    float *weight = make_weights(N, N, false);
    HeatMap large = {.weight = weight, .rows = N, .columns = N};
    HeatMapSection section = {.large = &large};
    Error error = {0};
    Canvas *once, *thrice;
    PagePlan plan;
    assert_true(attentionpage_draw_plan(&once, &plan, NULL, NULL, &section, 1, THEME_LIGHT, 1,
                                        &error));
    assert_true(
        attentionpage_draw(&thrice, NULL, NULL, &section, 1, THEME_LIGHT, 3, &error));
    assert_int_equal(canvas_width(thrice), 3 * canvas_width(once));
    assert_int_equal(canvas_height(thrice), 3 * canvas_height(once));
    const HeatMapPlan *map = &plan.section[0].large;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int x = map->x + map->left + j * map->cell, y = map->y + map->top + i * map->cell;
            Color want = canvas_pixel(once, x, y);
            assert_color(canvas_pixel(thrice, 3 * x, 3 * y), want);
            assert_color(canvas_pixel(thrice, 3 * x + 2, 3 * y + 2), want);
        }
    attentionplan_free(&plan);
    canvas_free(once);
    canvas_free(thrice);
    free(weight);
}

/* So many words that labels must be left out: the page is smaller cells, not an error. */
static void test_small_cells(void **state)
{
    (void)state;
    enum { N = 1400 };
    float *weight = make_weights(N, N, false);
    const char **labels = make_labels(N);
    HeatMap large = {.weight = weight, .rows = N, .columns = N, .row_labels = labels,
                     .column_labels = labels};
    HeatMapSection section = {.large = &large};
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    assert_true(attentionpage_draw_plan(&page, &plan, "t", "s", &section, 1, THEME_LIGHT, 1,
                                        &error));
    assert_true(plan.large_cell >= 1 && plan.large_cell < 10);
    assert_true(plan.section[0].large.row_step > 1);
    assert_map(page, &plan.section[0].large, &large, false);
    attentionplan_free(&plan);
    canvas_free(page);
    free(labels);
    free(weight);
}

/* 30 x 30 words and 32 small maps take less than 300 ms of a processor (55 on one that does 115
 * GFLOP/s in sgemm), so that a picture is there at once. */
static void test_speed(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__) && defined(__OPTIMIZE__)
    enum { N = 30, LAYERS = 4, HEADS = 8 };
    float *weight = make_weights(N, N, false);
    const char **labels = make_labels(N);
    HeatMap large = {.weight = weight, .rows = N, .columns = N, .row_labels = labels,
                     .column_labels = labels, .title = "layer 2"};
    HeatMap maps[LAYERS * HEADS];
    for (int i = 0; i < LAYERS * HEADS; i++)
        maps[i] = (HeatMap){.weight = weight, .rows = N, .columns = N, .note = "0.44 bits"};
    HeatMapSection section = {.title = "t", .maps = maps, .layers = LAYERS, .heads = HEADS,
                              .large = &large};
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {  // the first also reads the fonts
        Error error = {0};
        Canvas *page;
        clock_t begin = clock();
        assert_true(attentionpage_draw(&page, "title", "subtitle", &section, 1, THEME_LIGHT, 1,
                                       &error));
        best = fmin(best, (double)(clock() - begin) / CLOCKS_PER_SEC);
        canvas_free(page);
    }
    if (best > 0.3) fail_msg("%.0f ms", 1000 * best);
    free(labels);
    free(weight);
#endif
}

/* Without its captions a page of one large map still stands. */
static void test_large_alone(void **state)
{
    (void)state;
    float *weight = make_weights(4, 4, true);
    HeatMap large = {.weight = weight, .rows = 4, .columns = 4, .row_labels = words,
                     .column_labels = words};
    HeatMapSection section = {.large = &large, .causal = true};
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    assert_true(
        attentionpage_draw_plan(&page, &plan, NULL, NULL, &section, 1, THEME_LIGHT, 1, &error));
    assert_map(page, &plan.section[0].large, &large, true);
    attentionplan_free(&plan);
    canvas_free(page);
    free(weight);
}

/* More than a picture can hold is an error that says what to choose. */
static void test_too_much(void **state)
{
    (void)state;
    enum { LAYERS = 40, HEADS = 40, N = 500 };
    float *weight = make_weights(N, N, false);
    HeatMap *maps = calloc(LAYERS * HEADS, sizeof *maps);
    assert_non_null(maps);
    for (int i = 0; i < LAYERS * HEADS; i++)
        maps[i] = (HeatMap){.weight = weight, .rows = N, .columns = N};
    HeatMapSection section = {.maps = maps, .layers = LAYERS, .heads = HEADS};
    Error error = {0};
    Canvas *page;
    assert_false(attentionpage_draw(&page, NULL, NULL, &section, 1, THEME_LIGHT, 1, &error));
    assert_null(page);
    assert_non_null(strstr(error.text, "choose fewer layers or heads"));
    free(weight);
    free(maps);
}

/* ---- colours ---- */

static double linear(uint8_t code)
{
    double v = code / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(Color c)
{
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

/* CIELAB, another space than the one the maps are computed in. D65. */
static void lab(Color c, double out[3])
{
    double r = linear(c.r), g = linear(c.g), b = linear(c.b), f[3];
    double xyz[3] = {(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
                     0.2126 * r + 0.7152 * g + 0.0722 * b,
                     (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089};
    for (int i = 0; i < 3; i++)
        f[i] = xyz[i] > 216.0 / 24389 ? cbrt(xyz[i]) : (24389.0 / 27 * xyz[i] + 16) / 116;
    out[0] = 116 * f[1] - 16, out[1] = 500 * (f[0] - f[1]), out[2] = 200 * (f[1] - f[2]);
}

static void test_colormaps(void **state)
{
    (void)state;
    for (Theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++) {
        Colormap map = colormap_make(theme);
        double least = INFINITY, most = 0, before = luminance(map.color[0]);
        for (int i = 16; i < COLORMAP_SIZE; i += 16) {
            double now = luminance(map.color[i]), p[3], q[3];
            assert_true(theme == THEME_LIGHT ? now < before : now > before);  // also in grey
            before = now;
            lab(map.color[i - 16], p);
            lab(map.color[i], q);
            double step = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
            least = fmin(least, step);
            most = fmax(most, step);
        }
        if (most > 2.2 * least) fail_msg("steps from %g to %g", least, most);
        for (int i = 0; i < COLORMAP_SIZE; i++) {
            double y = luminance(map.color[i]),
                   ink = luminance(colormap_contrast(map.color[i]));
            double contrast = (fmax(y, ink) + 0.05) / (fmin(y, ink) + 0.05);
            assert_true(contrast >= 4.5);  // WCAG 2.1, level AA
        }
        for (int i = 0; i < COLORMAP_SIZE; i++) {
            Color grey = colormap_grey(&map, i / 255.0f);
            assert_true(abs(grey.r - grey.g) <= 1 && abs(grey.g - grey.b) <= 1);
            double p[3], q[3];
            lab(grey, p);
            lab(map.color[i], q);
            assert_true(fabs(p[0] - q[0]) < 6);  // of 100: as light, in another space's measure
        }
        assert_color(colormap_color(&map, NAN), theme_palette(theme)->invalid);
        assert_color(colormap_color(&map, INFINITY), map.color[255]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_matrix),
        cmocka_unit_test(test_numbers_in_cells),
        cmocka_unit_test(test_sizes_and_labels),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_small_cells),
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_large_alone),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_colormaps),
    };
    return cmocka_run_group_tests_name("heatmap", tests, NULL, NULL);
}
