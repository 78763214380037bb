/* Text and heat maps in a terminal: the columns of characters, colours, and lines that fit. */
#include "plots/blocks.h"
#include "plots/columns.h"
#include "tests/fixtures/test.h"

static char text[65536];

static void put(const char *label, int width, bool right, const char *expected)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    columns_put(out, label, width, right);
    fclose(out);
    assert_string_equal(text, expected);
}

TEST(columns)
{
    assert_int_equal(columns_width("école"), 5);
    assert_int_equal(columns_width("e\xcc\x81"), 1);  // a combining accent
    assert_int_equal(columns_width("日本"), 4);
    assert_int_equal(columns_width(""), 0);
    put("école", 7, false, "école  ");
    put("école", 7, true, "  école");
    put("september", 5, false, "sept…");
    put("日本語", 5, false, "日本…");
    put("日本語", 4, false, "日… ");  // half a character does not fit
    put("a\033[31m\n", 9, false, "a\xef\xbf\xbd[31m\xef\xbf\xbd  ");
    put("\xff", 2, false, "\xef\xbf\xbd ");
}

TEST(wrap)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    columns_wrap(out, "one two  three été quatre averyverylongword x", 2, 12);
    fclose(out);
    assert_string_equal(text, "  one two\n  three été\n  quatre\n  averyverylongword\n  x\n");
}

static void print(const HeatMap *map, bool causal, BlocksColor color)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    blocks_print(out, map, causal, color);
    fclose(out);
}

static const float weight[] = {1, 0, 0.25f, 0.75f};
static const char *const rows[] = {"un", "deux"}, *const names[] = {"one", "two"};
static const HeatMap small = {
    .weight = weight, .rows = 2, .columns = 2, .row_labels = rows, .column_labels = names};

TEST(numbers)
{
    print(&small, false, BLOCKS_PLAIN);
    assert_string_equal(text, "       one  two\n  un   1.0  .00\ndeux   .25  .75\n");
    print(&small, true, BLOCKS_PLAIN);
    assert_string_equal(text, "       one  two\n  un   1.0\ndeux   .25  .75\n");
}

/* A cell has the colour of its number as background, and text with contrast. */
TEST(colours)
{
    Colormap map = colormap_make(THEME_DARK);
    print(&small, false, BLOCKS_TRUECOLOR);
    for (int k = 0; k < 4; k++) {
        char expected[128], number[8];
        Color c = colormap_color(&map, weight[k]), ink = colormap_contrast(c);
        snprintf(number, sizeof number, "%.2f", (double)weight[k]);
        snprintf(expected, sizeof expected, "\033[48;2;%d;%d;%dm\033[38;2;%d;%d;%dm %s \033[0m",
                 c.r, c.g, c.b, ink.r, ink.g, ink.b, k ? number + 1 : "1.0");
        assert_non_null(strstr(text, expected));
    }
    print(&small, false, BLOCKS_256);
    assert_non_null(strstr(text, "\033[48;5;"));
    assert_null(strstr(text, "48;2"));
    FILE *out = fmemopen(text, 8, "w");  // no terminal
    assert_int_equal(blocks_color(out), BLOCKS_PLAIN);
    fclose(out);
}

/* 40 columns do not fit into one line: the map continues below, and no cell is lost. */
TEST(wide_maps)
{
    static float many[2 * 40];
    static const char *labels[40];
    for (int j = 0; j < 40; j++)
        many[j] = (float)j / 100, many[40 + j] = 0.5f, labels[j] = "mot";
    HeatMap map = {
        .weight = many, .rows = 2, .columns = 40, .row_labels = rows, .column_labels = labels};
    print(&map, false, BLOCKS_PLAIN);
    int halves = 0, mots = 0;
    for (const char *c = text; (c = strstr(c, ".50")); c++) halves++;
    for (const char *c = text; (c = strstr(c, "mot")); c++) mots++;
    assert_int_equal(halves, 40);
    assert_int_equal(mots, 40);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(columns_width(line) <= 80);
}

TEST_MAIN("blocks", NULL, NULL)
