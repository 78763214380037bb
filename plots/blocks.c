/* blocks.c -- a heat map in a terminal; see blocks.h.
 *
 * Colours are set with SGR sequences (ECMA-48): ESC[48;2;R;G;Bm the background, or ESC[48;5;Nm
 * with N = 16 + 36 r + 6 g + b, r, g, b of 0 .. 5: xterm's cube, whose steps lie at 0, 95, 135,
 * 175, 215 and 255. */
#include "plots/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/utf8.h"

enum { LINE = 80, LABEL_MOST = 14, CELL_MOST = 13, PART = 32 };
/* The narrowest cells with a label above them, with a number, and with a shade alone. */
enum { CELL_LABEL = 9, CELL_NUMBER = 4, CELL_SHADE = 2 };

BlocksColor blocks_color(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *depth = getenv("COLORTERM"),
               *term = getenv("TERM");
    if ((no_color && *no_color) || !isatty(fileno(out))) return BLOCKS_PLAIN;
    if (!term || !strcmp(term, "dumb")) return BLOCKS_PLAIN;
    bool full = depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"));
    return full ? BLOCKS_TRUECOLOR : BLOCKS_256;
}

static const float ZERO = 0.005f;  // weights below it are left blank

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
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    char text[16] = "";
    if (width >= CELL_NUMBER && !(value < ZERO)) heatmap_number(text, value);
    if (color == BLOCKS_PLAIN) {
        int gap = width > CELL_NUMBER, filled = width - gap - (int)strlen(text);
        int shade = value >= 0.05f;
        while (shade && shade < 4 && value >= 0.25f * (float)shade) shade++;
        fprintf(out, "%*s", gap, "");
        while (filled-- > 0) fputs(shades[shade], out);
        fputs(text, out);
        return;
    }
    Color back = colormap_color(map, value, false);
    set_color(out, 48, back, color);
    set_color(out, 38, colormap_contrast(back), color);
    fprintf(out, "%*s%*s\033[0m", width - 1, text, width > CELL_SHADE, "");
}

static int widest(const char *const *label, int count, int least, int most)
{
    for (int i = 0; i < count; i++) {
        int width = columns_width(label[i]);
        if (width > least) least = width;
    }
    return least < most ? least : most;
}

/* Cuts a label into at most LABEL_MOST characters with their combining marks; returns their
 * number. */
static int split(char part[LABEL_MOST][PART], const char *text)
{
    int count = 0, length;
    for (unsigned code; *text; text += length) {
        char one[8];
        length = utf8_next(text, &code);
        snprintf(one, sizeof one, "%.*s", length, text);
        bool mark = count && !columns_width(one);
        if (!mark && count == LABEL_MOST) return strcpy(part[count - 1], "…"), count;
        if (!mark) *part[count++] = '\0';
        if (strlen(part[count - 1]) + sizeof one < PART) strcat(part[count - 1], one);
    }
    return count;
}

/* The labels of the columns first .. last-1; upright: from top to bottom. */
static void put_labels(FILE *out, const char *const *label, int first, int last, int indent,
                       int width, bool upright)
{
    char part[LABEL_MOST][PART];
    int height = 1;
    for (int j = first; j < last && upright; j++)
        if (split(part, label[j]) > height) height = split(part, label[j]);
    for (int line = 0; line < height; line++) {
        int gap = indent;  // blank columns before the next character
        for (int j = first; j < last; j++) {
            int place = upright ? line - height + split(part, label[j]) : 0;
            const char *text = !upright ? label[j] : place < 0 ? "" : part[place];
            if (*text) {
                fprintf(out, "%*s", gap + !upright, "");
                columns_put(out, text, width - !upright, true);
                gap = 0;
            } else gap += width;
        }
        fputc('\n', out);
    }
}

void blocks_print(FILE *out, const HeatMap *map, bool causal, BlocksColor color)
{
    Colormap colors = colormap_make(THEME_DARK);
    int label = widest(map->row_labels, map->rows, 1, LABEL_MOST);
    int width = widest(map->column_labels, map->columns, CELL_NUMBER, CELL_MOST - 1) + 1;
    int line = columns_of(out, LINE);
    int left = (line < 2 * LABEL_MOST ? LINE : line) - label - 1, each = left / map->columns;
    bool upright = each < (width < CELL_LABEL ? width : CELL_LABEL);
    if (upright) width = each < CELL_NUMBER ? CELL_SHADE : CELL_NUMBER;
    else if (width > each) width = each;
    int fit = left / width;  // columns in a line
    for (int first = 0; first < map->columns; first += fit) {
        int last = first + fit < map->columns ? first + fit : map->columns;
        if (first) fputc('\n', out);
        put_labels(out, map->column_labels, first, last, label + 1, width, upright);
        for (int i = 0; i < map->rows; i++) {
            int gap = 1;
            columns_put(out, map->row_labels[i], label, true);
            for (int j = first; j < last && !(causal && j > i); j++) {
                float value = map->weight[i * map->columns + j];
                bool blank = color == BLOCKS_PLAIN && value < ZERO;
                if (!blank)
                    fprintf(out, "%*s", gap, ""), cell(out, value, width, &colors, color);
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
