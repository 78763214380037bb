/* Line charts: the curve passes through its points, has gaps where there is no value, and any
 * series can be drawn. */
#include "plots/curves.h"
#include "tests/fixtures/pixel.h"
#include "tests/fixtures/test.h"

/* Whether a pixel within reach of the point (x,y) of the chart has the colour of the series. */
static bool is_inked(const Canvas *page, const Chart *chart, double x, double y, int series)
{
    Color want = palette.series[series];
    int column = (int)lround(chart->x + chart->width * axis_place(&chart->across, x));
    int row = (int)lround(chart->y + chart->height * (1 - axis_place(&chart->up, y)));
    for (int k = 0; k < 25; k++) {
        Color got = canvas_pixel(page, column - 2 + k % 5, row - 2 + k / 5);
        if (memcmp(&got, &want, sizeof got) == 0) return true;
    }
    return false;
}

static Canvas *draw(Chart *charts, int count)
{
    Error error = {0};
    Canvas *page;
    if (!curves_draw(&page, "title", "subtitle", charts, count, &error))
        fail_msg("%s", error.text);
    return page;
}

/* A chart of one series. */
static Canvas *draw_one(const Series *series, bool log_y, Chart *chart)
{
    *chart = (Chart){.series = series, .count = 1, .up.log = log_y};
    return draw(chart, 1);
}

TEST(test_points_are_on_the_curve)
{
    static const double x[] = {0, 10, 20, 40, 50}, y[] = {9, 4, 2, 1.5, 1.4},
                        z[] = {1, 2, 3, 2, 8};
    Series loss = {"loss", x, y, 5, 0, true}, bleu = {"BLEU", x, z, 5, 2, false};
    for (int log_y = 0; log_y < 2; log_y++) {
        Chart charts[] = {{.series = &loss, .count = 1, .up.log = log_y},
                          {"BLEU", "updates", "BLEU", .series = &bleu, .count = 1}};
        Canvas *page = draw(charts, 2);
        for (int i = 0; i < 5; i++) {
            assert_true(is_inked(page, &charts[0], x[i], y[i], 0));
            assert_true(is_inked(page, &charts[1], x[i], z[i], 2));
            assert_false(is_inked(page, &charts[0], x[i], y[i], 2));
        }
        assert_true(is_inked(page, &charts[1], 15, 2.5, 2));
        assert_false(is_inked(page, &charts[1], 15, 5, 2));
        canvas_free(page);
    }
}

TEST(test_gaps)
{
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, nan = NAN;
    double y[] = {1, 1, nan, nan, 1, nan, INFINITY, 1, 1};
    Series series = {NULL, x, y, 9, 1, false};
    Chart chart;
    Canvas *page = draw_one(&series, false, &chart);
    assert_true(is_inked(page, &chart, 0.5, 1, 1));
    assert_false(is_inked(page, &chart, 2.5, 1, 1));
    assert_true(is_inked(page, &chart, 4, 1, 1));  // alone: a dot
    assert_false(is_inked(page, &chart, 5, 1, 1));
    assert_true(is_inked(page, &chart, 7.5, 1, 1));
    canvas_free(page);
}

/* One peak among 100,000 points is visible. */
TEST(test_many_points)
{
    enum { N = 100000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    assert_true(x && y);
    for (int i = 0; i < N; i++) x[i] = i, y[i] = 1 + 0.01 * (i % 7);
    y[61234] = 9;
    y[70001] = -6;
    Series series = {"loss", x, y, N, 0, true};
    Chart chart;
    Canvas *page = draw_one(&series, false, &chart);
    assert_true(is_inked(page, &chart, 61234, 8.8, 0));
    assert_true(is_inked(page, &chart, 70001, -5.8, 0));
    assert_true(is_inked(page, &chart, 30000, 1.03, 0));
    assert_false(is_inked(page, &chart, 30000, 5, 0));
    canvas_free(page);
    free(x);
    free(y);
}

TEST(test_odd_series)
{
    static const double nothing[] = {NAN, INFINITY, -INFINITY}, zeros[] = {0, 0, 0};
    static const double same[] = {5, 5, 5}, up[] = {1, 2, 3}, down[] = {3, 2, 1};
    static const double huge[] = {-1e308, 0, 1e308}, tiny[] = {1e-300, 2e-300, 3e-300};
    static const double *const values[] = {nothing, zeros, same, up, down, huge, tiny};
    enum { VALUES = sizeof values / sizeof values[0] };
    for (int i = 0; i < VALUES * VALUES * 2; i++) {
        Series series = {"\xFF",    values[i / 2 % VALUES], values[i / 2 / VALUES], 3, i - 5,
                         i % 3 == 0};
        Chart chart;
        Canvas *page = draw_one(&series, i % 2, &chart);
        assert_true(chart.across.low < chart.across.high && chart.up.low < chart.up.high);
        canvas_free(page);
    }
    Series one = {"one", same, same, 1, 3, false}, none = {"none", NULL, NULL, 0, 0, false};
    Chart chart;
    Canvas *page = draw_one(&one, false, &chart);
    assert_true(is_inked(page, &chart, 5, 5, 3));
    canvas_free(page);
    canvas_free(draw_one(&none, false, &chart));
    canvas_free(draw(&(Chart){.series = &none}, 1));
}

static void assert_axis(const Axis *axis, const char *want)
{
    char got[64];
    snprintf(got, sizeof got, "%d: %s … %s", axis->ticks, axis->label[0],
             axis->label[axis->ticks - 1]);
    assert_string_equal(got, want);
    assert_float_equal(axis_place(axis, axis->low), 0, 1e-12);
    assert_float_equal(axis_place(axis, axis->high), 1, 1e-12);
    for (int t = 1; t < axis->ticks; t++) assert_true(axis->tick[t] > axis->tick[t - 1]);
}

/* The ticks of both axes of a series from low to high. The vertical axis ends at ticks or, if it is
 * logarithmic, has a margin; the horizontal one ends at the values. */
TEST(test_axes)
{
    static const struct {
        double low, high;
        bool log;
        const char *up, *across;
    } cases[] = {
        {0, 10, false, "6: 0 … 10", "6: 0 … 10"},
        {1.6, 8.7, false, "6: 0 … 10", "7: 2 … 8"},
        {0, 20000, false, "5: 0 … 20k", "5: 0 … 20k"},
        {0, 2.5e6, false, "6: 0 … 2.5M", "6: 0 … 2.5M"},
        {0, 0.0005, false, "6: 0 … 0.0005", "1: 0 … 0"},
        {-3.1, 3, false, "5: -4 … 4", "7: -3 … 3"},
        {0.003, 250, true, "5: 0.01 … 100", "6: 0 … 250"},
        {2, 2, false, "5: 1.8 … 2.2", "1: 2 … 2"},
        {1, 3, false, "5: 1.0 … 3.0", "3: 1 … 3"},
        {3.5, 6.7, true, "7: 3.5 … 6.5", "3: 4 … 6"},
        {4.4, 7, true, "6: 4.5 … 7.0", "3: 5 … 7"},
        {1.2, 8.1, true, "5: 2 … 7", "7: 2 … 8"},
        {1e-308, 1e300, true, "6: 1e-110 … 1e+75", "6: 0 … 1e+100"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double x[] = {cases[i].low, cases[i].high};
        Series series = {.x = x, .y = x, .count = 2};
        Chart chart;
        canvas_free(draw_one(&series, cases[i].log, &chart));
        assert_axis(&chart.up, cases[i].up);
        assert_axis(&chart.across, cases[i].across);
        if (x[0] > 1e-100) assert_true(chart.up.low <= x[0] && chart.up.high >= x[1]);
    }
}

/* A score of 0 to 100 that is always the same has no axis beyond these. */
TEST(test_axis_of_a_score)
{
    static const double x[] = {1, 2}, none[] = {0, 0}, all[] = {100, 100};
    for (int i = 0; i < 2; i++) {
        Series series = {.x = x, .y = i ? all : none, .count = 2};
        Chart chart = {.series = &series, .count = 1, .up.most = 100};
        canvas_free(draw(&chart, 1));
        assert_true(chart.up.low == (i ? 90 : 0) && chart.up.high == (i ? 100 : 0.5));
        assert_true(chart.up.tick[0] >= 0 && chart.up.tick[chart.up.ticks - 1] <= 100);
    }
}

TEST_MAIN("curves", NULL, NULL)
