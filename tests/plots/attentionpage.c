/* The page of attention: maps lie apart and line up, any size gives a picture or an error. */
#include "tests/fixtures/test.h"

#include <time.h>

#include "tests/fixtures/known-maps.h"

static void test_refuses(void **state)
{
    (void)state;
    float weight = 1;
    Canvas *page = NULL;
    Error error = {0};
    HeatMap none = {.weight = &weight, .columns = 1}, no_weights = {.rows = 1, .columns = 1};
    assert_false(heatmap_check(&none, &error));
    assert_non_null(strstr(error.text, "0 rows"));
    assert_false(heatmap_check(&no_weights, &error));
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
    HeatMap large = {.weight = weight[0],
                     .rows = rows,
                     .columns = columns,
                     .row_labels = target,
                     .column_labels = source,
                     .column_marks = marks,
                     .title = "mean",
                     .note = "%s"};
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
            all[s * maps + i] = (HeatMap){.weight = weight[s],
                                          .rows = s == 1 ? columns : rows,
                                          .columns = s == 2 ? rows : columns,
                                          .note = "0.4 bits",
                                          .column_marks = s < 2 ? marks : NULL,
                                          .outlined = i == maps - 1};
        sections[s].maps = all + s * maps;
        sections[s].layers = layers;
        sections[s].heads = heads;
    }
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    if (!attentionpage_draw_plan(&page, &plan, "title", words[2], sections, 3, theme, 1,
                                 &error))
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
    assert_true(
        attentionpage_draw_plan(&once, &plan, NULL, NULL, &section, 1, THEME_LIGHT, 1, &error));
    assert_true(attentionpage_draw(&thrice, NULL, NULL, &section, 1, THEME_LIGHT, 3, &error));
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
    HeatMap large = {.weight = weight,
                     .rows = N,
                     .columns = N,
                     .row_labels = labels,
                     .column_labels = labels};
    HeatMapSection section = {.large = &large};
    Error error = {0};
    Canvas *page;
    PagePlan plan;
    assert_true(
        attentionpage_draw_plan(&page, &plan, "t", "s", &section, 1, THEME_LIGHT, 1, &error));
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
    HeatMap large = {.weight = weight,
                     .rows = N,
                     .columns = N,
                     .row_labels = labels,
                     .column_labels = labels,
                     .title = "layer 2"};
    HeatMap maps[LAYERS * HEADS];
    for (int i = 0; i < LAYERS * HEADS; i++)
        maps[i] = (HeatMap){.weight = weight, .rows = N, .columns = N, .note = "0.44 bits"};
    HeatMapSection section = {
        .title = "t", .maps = maps, .layers = LAYERS, .heads = HEADS, .large = &large};
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
    HeatMap large = {
        .weight = weight, .rows = 4, .columns = 4, .row_labels = words, .column_labels = words};
    HeatMapPlan plan;
    Canvas *page = draw_alone(&plan, &large, true, THEME_LIGHT);
    assert_map(page, &plan, &large, true);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses),     cmocka_unit_test(test_pages),
        cmocka_unit_test(test_frame),       cmocka_unit_test(test_scale),
        cmocka_unit_test(test_small_cells), cmocka_unit_test(test_speed),
        cmocka_unit_test(test_large_alone), cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests_name("attentionpage", tests, NULL, NULL);
}
