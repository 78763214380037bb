/* Heat maps: every cell is where the plan says and has the colour of its number, whatever the labels. */
#include "tests/fixtures/heatmap-checks.h"
#include "tests/fixtures/test.h"

static void test_known_matrix(void **state)
{
    (void)state;
    static const float weight[] = {0, 0.25f, 0.5f, 0.75f, 1, NAN, -3, 7};
    static const char *const rows[] = {"a", "</s>"}, *const columns[] = {"x", "y", "z", "</s>"};
    HeatMap map = {.weight = weight,
                   .rows = 2,
                   .columns = 4,
                   .row_labels = rows,
                   .column_labels = columns,
                   .title = "title",
                   .note = "note"};
    for (Theme theme = THEME_LIGHT; theme <= THEME_DARK; theme++) {
        HeatMapPlan plan;
        Canvas *page = draw_alone(&plan, &map, false, theme);
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
        HeatMapPlan plan;
        Canvas *page = draw_alone(&plan, &map, false, THEME_LIGHT);
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
        if (size == 3) assert_true(inked > 20);
        else assert_int_equal(inked, 0);
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
        HeatMap map = {.weight = weight,
                       .rows = rows,
                       .columns = columns,
                       .row_labels = row_labels,
                       .column_labels = column_labels,
                       .title = words[s + 2]};
        HeatMapPlan plan;
        Canvas *page = draw_alone(&plan, &map, false, (Theme)(s % 2));
        assert_map(page, &plan, &map, false);
        canvas_free(page);
        free(weight);
        free(row_labels);
        free(column_labels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_matrix),
        cmocka_unit_test(test_numbers_in_cells),
        cmocka_unit_test(test_sizes_and_labels),
    };
    return cmocka_run_group_tests_name("heatmap", tests, NULL, NULL);
}
