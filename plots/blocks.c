/* blocks.c -- a heat map in a terminal; see blocks.h.
 *
 * Colours are set with SGR sequences (ECMA-48): ESC[48;2;R;G;Bm the background, ESC[38;… the
 * text. */
#include "plots/blocks.h"

#include <unistd.h>

#include "base/columns.h"

enum { LINE = 80, LABEL_MOST = 14 };
/* The width of a cell and the blank before it: of a short label, of a number, and of a long label. */
enum { CELL_LEAST = 7, CELL_NUMBER = 5, CELL_MOST = 13 };

bool blocks_colored(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *depth = getenv("COLORTERM");
    return isatty(fileno(out)) && !(no_color && *no_color) && depth &&
           (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"));
}

static const float ZERO = 0.005f;  // weights below it are left blank

static void cell(FILE *out, float value, int width, bool colored)
{
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    char text[16] = "";
    if (!(value < ZERO)) heatmap_number(text, value);
    if (!colored) {
        int shade = value >= 0.05f;
        while (shade && shade < 4 && value >= 0.25f * (float)shade) shade++;
        fputc(' ', out);
        for (int k = 1 + (int)strlen(text); k < width; k++) fputs(shades[shade], out);
        fputs(text, out);
        return;
    }
    Color back = colormap_color(THEME_DARK, value, false), ink = colormap_contrast(back);
    fprintf(out, "\033[48;2;%d;%d;%dm\033[38;2;%d;%d;%dm%*s \033[0m", back.r, back.g, back.b,
            ink.r, ink.g, ink.b, width - 1, text);
}

static int widest(const char *const *label, int count, int least, int most)
{
    for (int i = 0; i < count; i++) least = larger(least, columns_width(label[i]));
    return least < most ? least : most;
}

void blocks_print(FILE *out, const HeatMap *map, bool colored)
{
    int label = widest(map->row_labels, map->rows, 1, LABEL_MOST);
    int width = widest(map->column_labels, map->columns, CELL_NUMBER - 1, CELL_MOST - 1) + 1;
    int line = columns_of(out, LINE);
    int left = (line < 2 * LABEL_MOST ? LINE : line) - label - 1;
    width = clamp(left / map->columns, width < CELL_LEAST ? width : CELL_LEAST, width);
    int fit = left / width;  // columns in a line
    for (int first = 0; first < map->columns; first += fit) {
        int last = first + fit < map->columns ? first + fit : map->columns;
        fprintf(out, "%s%*s", first ? "\n" : "", label + 1, "");
        for (int j = first; j < last; j++) {
            fputc(' ', out);
            columns_put(out, map->column_labels[j], width - 1, true);
        }
        fputc('\n', out);
        for (int i = 0; i < map->rows; i++) {
            int gap = 1;  // blank columns before the next cell
            columns_put(out, map->row_labels[i], label, true);
            for (int j = first; j < last; j++) {
                float value = map->weight[i * map->columns + j];
                bool blank = heatmap_masked(map, i, j) || (!colored && value < ZERO);
                if (!blank) fprintf(out, "%*s", gap, ""), cell(out, value, width, colored);
                gap = blank ? gap + width : 0;
            }
            fputc('\n', out);
        }
    }
}

void blocks_bar(FILE *out, double p, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int count = (int)lround(p * width * 8);
    if (count) fputc(' ', out);
    for (int i = 0; i < count / 8; i++) fputs("█", out);
    fputs(eighths[count % 8], out);
}
