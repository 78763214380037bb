/* Text and heat maps in a terminal: the columns of characters, colours, and lines that fit. */
#include "plots/blocks.h"
#include "base/columns.h"
#include "tests/fixtures/test.h"

#include <math.h>

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
    put("é ש", 4, false, "\u200eé ש\u200e ");  // alef to tav are written from right to left
    put("٣", 2, true, " \u200e٣\u200e");
}

TEST(wrap)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    columns_wrap(out, "one two  three été quatre averyverylongword x", 2, 2, 12);
    fclose(out);
    assert_string_equal(text, "  one two\n  three été\n  quatre\n  averyverylongword\n  x\n");
}

static void print(const HeatMap *map, bool colored)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    blocks_print(out, map, colored);
    fclose(out);
}

static const float weight[] = {1, 0, 0.25f, 0.75f};
static const char *const rows[] = {"un", "deux"}, *const names[] = {"one", "two"};
static const HeatMap small = {
    .weight = weight, .rows = 2, .columns = 2, .row_labels = rows, .column_labels = names};

/* Zeros are blank, and so is what the causal mask hides. */
TEST(shades_and_numbers)
{
    HeatMap causal = small;
    causal.causal = 1;
    print(&small, false);
    assert_string_equal(text, "       one  two\n  un  █1.0\ndeux  ▒.25 █.75\n");
    print(&causal, false);
    assert_string_equal(text, "       one  two\n  un  █1.0\ndeux  ▒.25 █.75\n");
    const float steps[] = {0.004f, 0.04f, 0.06f, 0.3f, 0.6f, 0.8f, NAN};
    const char *const label[] = {"a", "b", "c", "d", "e", "f", "g"};
    HeatMap map = {
        .weight = steps, .rows = 1, .columns = 7, .row_labels = rows, .column_labels = label};
    print(&map, false);
    assert_non_null(strstr(text, "un        .04 ░.06 ▒.30 ▓.60 █.80  nan\n"));
}

/* A word of several pieces attends to its own first ones: only zeros are masked. */
TEST(causal_mask)
{
    const float own[] = {0.5f, 0.5f, 0, 1};
    HeatMap map = small;
    map.weight = own, map.causal = 1;
    print(&map, false);
    assert_string_equal(text, "       one  two\n  un  ▓.50 ▓.50\ndeux       █1.0\n");
    const float none[] = {0, 0, 1, 0};
    map.weight = none;
    for (; map.causal <= 2; map.causal++) {  // 2: the first column is of the first row's word
        int cells = 0;
        print(&map, true);
        for (const char *at = text; (at = strstr(at, "\033[0m")); at++) cells++;
        assert_int_equal(cells, map.causal == 1 ? 3 : 1);
    }
}

/* A cell has the colour of its number as background, and text with contrast. */
TEST(colours)
{
    print(&small, true);
    for (int k = 0; k < 4; k++) {
        static const char *const number[] = {"1.0", "   ", ".25", ".75"};
        char expected[128];
        Color c = colormap_color(THEME_DARK, weight[k], false), ink = colormap_contrast(c);
        snprintf(expected, sizeof expected, "\033[48;2;%d;%d;%dm\033[38;2;%d;%d;%dm %s \033[0m",
                 c.r, c.g, c.b, ink.r, ink.g, ink.b, number[k]);
        assert_non_null(strstr(text, expected));
    }
    FILE *out = fmemopen(text, 8, "w");  // no terminal
    assert_false(blocks_colored(out));
    fclose(out);
}

/* count columns of weight ½, all with this label. */
static void print_columns(int count, const char *label)
{
    static float half[100];
    const char *labels[100];
    for (int j = 0; j < count; j++) half[j] = 0.5f, labels[j] = label;
    HeatMap map = {.weight = half,
                   .rows = 1,
                   .columns = count,
                   .row_labels = rows,
                   .column_labels = labels};
    print(&map, false);
}

static int occurrences(const char *part)
{
    int count = 0;
    for (const char *c = text; (c = strstr(c, part)); c++) count++;
    return count;
}

/* Labels are cut to six columns at least; what does not fit then follows below. */
TEST(labels)
{
    print_columns(7, "september");
    assert_int_equal(occurrences(" september"), 7);
    print_columns(8, "september");
    assert_int_equal(occurrences("septemb…"), 8);
    print_columns(11, "september");
    assert_int_equal(occurrences("septe…"), 11);
    assert_int_equal(occurrences("\n"), 2);
    print_columns(12, "september");
    assert_int_equal(occurrences("septe…"), 12);
    assert_int_equal(occurrences(".50"), 12);
    assert_int_equal(occurrences("\n"), 5);
}

/* 100 columns do not fit into one line: the map continues below, and no cell is lost. */
TEST(wide_maps)
{
    print_columns(100, "mot");
    assert_int_equal(occurrences(".50"), 100);
    assert_int_equal(occurrences("un "), 7);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(columns_width(line) <= 80);
}

TEST_MAIN("blocks", NULL, NULL)
