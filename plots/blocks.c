/* blocks.c -- a heat map in a terminal; see blocks.h.
 *
 * Colours are set with SGR sequences (ECMA-48): ESC[48;2;R;G;Bm the background, or ESC[48;5;Nm
 * with N = 16 + 36 r + 6 g + b, r, g, b of 0 .. 5: xterm's cube, whose steps lie at 0, 95, 135,
 * 175, 215 and 255. */
#include "plots/blocks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/columns.h"

enum { LINE = 80, LABEL_MOST = 14, CELL_LEAST = 5, CELL_MOST = 9 };

BlocksColor blocks_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *depth = getenv("COLORTERM"),
               *term = getenv("TERM");
    if ((no_color && *no_color) || !isatty(fileno(out))) return BLOCKS_PLAIN;
    if (!term || !strcmp(term, "dumb")) return BLOCKS_PLAIN;
    bool full = depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"));
    return full ? BLOCKS_TRUECOLOR : BLOCKS_256;
}

static int cube_step(uint8_t value)
{
    static const int steps[] = {0, 95, 135, 175, 215, 255};
    int nearest = 0;
    for (int i = 1; i < 6; i++)
        if (abs(value - steps[i]) < abs(value - steps[nearest])) nearest = i;
    return nearest;
}

/* target: 48 is the background, 38 the text. */
static void set_color(FILE *out, int target, Color c, BlocksColor color)
{
    if (color == BLOCKS_TRUECOLOR) fprintf(out, "\033[%d;2;%d;%d;%dm", target, c.r, c.g, c.b);
    else
        fprintf(out, "\033[%d;5;%dm", target,
                16 + 36 * cube_step(c.r) + 6 * cube_step(c.g) + cube_step(c.b));
}

static void cell(FILE *out, float value, int width, const Colormap *map, BlocksColor color)
{
    char text[16];
    heatmap_number(text, value);
    if (color == BLOCKS_PLAIN) {
        fprintf(out, "%*s", width, text);
        return;
    }
    Color back = colormap_color(map, value);
    set_color(out, 48, back, color);
    set_color(out, 38, colormap_contrast(back), color);
    fprintf(out, "%*s ", width - 1, text);
    fputs("\033[0m", out);
}

static int widest(const char *const *label, int count, int least, int most)
{
    for (int i = 0; label && i < count; i++) {
        int width = columns_width(label[i]);
        if (width > least) least = width;
    }
    return least < most ? least : most;
}

void blocks_print(FILE *out, const HeatMap *map, bool causal, BlocksColor color)
{
    Colormap colors = colormap_make(THEME_DARK);
    int label = widest(map->row_labels, map->rows, 1, LABEL_MOST);
    int width = widest(map->column_labels, map->columns, CELL_LEAST - 1, CELL_MOST - 1) + 1;
    int fit = (LINE - label - 1) / width;  // columns in a line
    if (fit < map->columns && map->columns * CELL_LEAST <= LINE - label - 1) {
        width = (LINE - label - 1) / map->columns;
        fit = map->columns;
    }
    for (int first = 0; first < map->columns; first += fit) {
        int last = first + fit < map->columns ? first + fit : map->columns;
        if (first) fputc('\n', out);
        fprintf(out, "%*s", label + 1, "");
        for (int j = first; j < last; j++) {
            fputc(' ', out);
            columns_put(out, map->column_labels ? map->column_labels[j] : "", width - 1, true);
        }
        fputc('\n', out);
        for (int i = 0; i < map->rows; i++) {
            columns_put(out, map->row_labels ? map->row_labels[i] : "", label, true);
            fputc(' ', out);
            for (int j = first; j < last && !(causal && j > i); j++)
                cell(out, map->weight[i * map->columns + j], width, &colors, color);
            fputc('\n', out);
        }
    }
}
