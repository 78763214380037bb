/* heatmap.c -- plan and paint one matrix.
 *
 *     ┌ left ┐
 *             title
 *              / / / /     <- column labels, slanted if one is wider than a cell
 *       top -> ■ ■ ■ ■
 *     a label  ■ ■ ■ ■
 *
 * The size of a cell decides everything else. Labels are at least LABEL_MIN pixels high; if the
 * rows are closer together, only every second, third, ... row has one. */
#include "plots/heatmap.h"

enum { LABEL_MIN = 9, LABEL_MAX = 14, LABEL_SPACE = 7 };
enum { NOTE_SIZE = 11, NOTE_SPACE = 6, FRAME = 2, FRAME_SPACE = 2 };
enum { NUMBER_CELL = 21, LONG_NUMBER_CELL = 34, LARGE_MAP = 300 };

/* ---- styles ---- */

/* special, unknown: of a label, [i]; or NULL */
static TextStyle label_style(const HeatMapPlan *plan, const bool *special, const bool *unknown,
                             int i)
{
    return (TextStyle){.size = plan->label_size,
                       .color = special && special[i] ? palette.muted : palette.ink,
                       .underlined = unknown && unknown[i],
                       .across = ALIGN_END,
                       .middle = true,
                       .max_width = 9 * plan->label_size};
}

/* The title of a small map, one of many, is as small as its note. */
static TextStyle title_style(const HeatMap *map, const HeatMapPlan *plan)
{
    bool large = plan->cell >= LONG_NUMBER_CELL || plan->cell * map->columns > LARGE_MAP ||
                 plan->cell * map->rows > LARGE_MAP;
    return (TextStyle){.size = large ? plan->label_size + 1 : NOTE_SIZE,
                       .bold = large,
                       .color = large ? palette.muted : palette.ink};
}

/* ---- plan ---- */

/* The widest of the labels that are drawn. */
static double widest(Canvas *canvas, const HeatMapPlan *plan, const char *const *labels,
                     int count)
{
    double width = 0;
    TextStyle style = label_style(plan, NULL, NULL, 0);
    for (int i = 0; labels && i < count; i += plan->label_step)
        width = fmax(width, canvas_measure(canvas, labels[i], style));
    return width;
}

/* Column labels are horizontal if they fit over their cells. Otherwise they have the smallest
 * slant at which neighbours do not touch. Returns the height of the labels and sets the
 * overhang. */
static double plan_columns(Canvas *canvas, HeatMapPlan *plan, const HeatMap *map)
{
    if (!map->column_labels) return 0;
    double width = widest(canvas, plan, map->column_labels, map->columns);
    double pitch = (double)plan->cell * plan->label_step, line = 1.05 * plan->label_size;
    if (width + plan->label_space <= pitch) return plan->label_size + plan->label_space;
    plan->slant = pitch * sqrt(0.5) >= line ? 45 : pitch * sqrt(0.75) >= line ? 60 : 90;
    double radians = plan->slant * 3.14159265358979323846 / 180, reach = 0;
    for (int j = 0; j < map->columns; j += plan->label_step) {
        double label =
            canvas_measure(canvas, map->column_labels[j], label_style(plan, NULL, NULL, j));
        reach = fmax(reach, (j + 0.5) * plan->cell + label * cos(radians) + line / 2);
    }
    plan->overhang = (int)ceil(fmax(reach - (double)plan->cell * map->columns, 0));
    return width * sin(radians) + line * cos(radians) / 2 + 10 * plan->label_space / 7;
}

HeatMapPlan heatmap_plan(Canvas *canvas, const HeatMap *map, int cell)
{
    HeatMapPlan plan = {.cell = cell, .gap = cell >= 8 ? 1 : 0};
    bool given = map->label_size > 0;
    plan.label_size =
        given ? map->label_size : fmin(fmax(round(8.2 + 0.14 * cell), LABEL_MIN), LABEL_MAX);
    plan.label_space = given ? 0.4 * plan.label_size : LABEL_SPACE;
    if (given && cell >= 2 * plan.label_size)
        plan.number_size = fmin(0.34 * cell, plan.label_size);
    else if (!given && cell >= NUMBER_CELL) plan.number_size = fmin(fmax(0.34 * cell, 8.5), 14);
    plan.label_step = (int)ceil((plan.label_size + 1) / cell);

    double rows = widest(canvas, &plan, map->row_labels, map->rows);
    double band = plan_columns(canvas, &plan, map);
    double title = 0;
    int foot = 0;
    if (map->title) {
        TextStyle style = title_style(map, &plan);
        title = canvas_measure(canvas, map->title, style);
        band += style.size + (map->row_labels || map->column_labels ? 9 : 11);
    }
    if (map->note) {
        title =
            fmax(title, canvas_measure(canvas, map->note, canvas_style(NOTE_SIZE, false, 0)));
        foot = NOTE_SPACE + (int)ceil(1.4 * NOTE_SIZE);
    }
    plan.left = rows > 0 ? (int)ceil(rows + plan.label_space) : 0;
    if (rows > 0 && map->row_numbers) {
        TextStyle style = canvas_style(NOTE_SIZE, true, 0);
        plan.number_width = (int)ceil(canvas_measure(canvas, "0.00", style)) + LABEL_SPACE;
        plan.left += plan.number_width;
    }
    plan.top = (int)ceil(band);
    int cells = cell * map->columns;
    plan.overhang = larger(plan.overhang, (int)ceil(title) - cells);
    plan.width = plan.left + cells + plan.overhang;
    plan.height = plan.top + cell * map->rows + foot;
    return plan;
}

/* ---- paint ---- */

static void paint_labels(Canvas *canvas, int x, int y, const HeatMapPlan *plan,
                         const HeatMap *map)
{
    double half = 0.5 * (plan->cell - plan->gap);
    double space = plan->label_space;
    for (int i = 0; map->row_labels && i < map->rows; i += plan->label_step) {
        TextStyle style = label_style(plan, map->row_special, map->row_unknown, i);
        double middle = y + i * plan->cell + half;
        canvas_text(canvas, map->row_labels[i], x - space - plan->number_width, middle, style);
        if (!plan->number_width || isnan(map->row_numbers[i])) continue;
        char number[16];
        style = canvas_style(NOTE_SIZE, map->row_numbers[i] < 0.5f, 0);
        style.across = ALIGN_END, style.middle = true;
        snprintf(number, sizeof number, "%.2f", (double)map->row_numbers[i]);
        canvas_text(canvas, number, x - space, middle, style);
    }
    for (int j = 0; map->column_labels && j < map->columns; j += plan->label_step) {
        TextStyle style = label_style(plan, map->column_special, map->column_unknown, j);
        style.across = plan->slant > 0 ? ALIGN_START : ALIGN_CENTRE;
        style.angle = plan->slant;
        double above = space + (plan->slant > 0 ? 3 * space / 7 : 0.3 * plan->label_size);
        canvas_text(canvas, map->column_labels[j], x + j * plan->cell + half, y - above, style);
    }
}

void heatmap_number(char text[16], float value)
{
    snprintf(text, 16, "%.2f", (double)value);
    if (text[0] == '0') memmove(text, text + 1, strlen(text));
    else if (strcmp(text, "1.00") == 0) strcpy(text, "1.0");
}

static void paint_number(Canvas *canvas, double x, double y, const HeatMapPlan *plan,
                         float value, Color background)
{
    char text[16];
    if (fabsf(value) < 0.005f) return;
    if (plan->cell >= LONG_NUMBER_CELL) snprintf(text, sizeof text, "%.2f", (double)value);
    else heatmap_number(text, value);
    canvas_text(canvas, text, x, y,
                (TextStyle){.size = plan->number_size,
                            .color = colormap_contrast(background),
                            .across = ALIGN_CENTRE,
                            .middle = true});
}

/* A frame around all cells, outside of them. */
static void paint_frame(Canvas *canvas, int x, int y, const HeatMapPlan *plan,
                        const HeatMap *map)
{
    Color color = palette.series[1];
    double out = FRAME + FRAME_SPACE, width = plan->cell * map->columns - plan->gap + 2 * out,
           height = plan->cell * map->rows - plan->gap + 2 * out;
    canvas_rectangle(canvas, x - out, y - out, width, FRAME, color);
    canvas_rectangle(canvas, x - out, y - out + height - FRAME, width, FRAME, color);
    canvas_rectangle(canvas, x - out, y - out, FRAME, height, color);
    canvas_rectangle(canvas, x - out + width - FRAME, y - out, FRAME, height, color);
}

void heatmap_paint(Canvas *canvas, const HeatMapPlan *plan, const HeatMap *map, float low,
                   float high)
{
    int x = plan->x + plan->left, y = plan->y + plan->top, side = plan->cell - plan->gap;
    float width = high > low ? high - low : 1;
    bool pixels = plan->gap == 0 && !(map->label_size > 0);  // thousands of cells in all maps
    if (pixels) canvas_begin_pixels(canvas, x, y, side * map->columns, side * map->rows);
    for (int i = 0; i < map->rows; i++) {
        for (int j = 0; j < map->columns; j++) {
            float value = map->weight[(size_t)i * (size_t)map->columns + (size_t)j];
            bool unseen = heatmap_masked(map, i, j) || (map->absent && isnan(value));
            bool special = map->column_special && map->column_special[j];
            Color color = unseen ? palette.neutral
                                 : colormap_color(THEME_LIGHT, (value - low) / width, special);
            int left = x + j * plan->cell, top = y + i * plan->cell;
            canvas_rectangle(canvas, left, top, side, side, color);
            if (plan->number_size > 0 && !unseen)
                paint_number(canvas, left + 0.5 * side, top + 0.5 * side, plan, value, color);
        }
    }
    if (pixels) canvas_end_pixels(canvas);
    paint_labels(canvas, x, y, plan, map);
    if (map->title) canvas_text(canvas, map->title, x, plan->y, title_style(map, plan));
    if (map->note)
        canvas_text(canvas, map->note, x, y + plan->cell * map->rows + NOTE_SPACE,
                    canvas_style(NOTE_SIZE, false, 0));
    if (map->outlined) paint_frame(canvas, x, y, plan, map);
}

void heatmap_bar(Canvas *canvas, int x, int y, int width, float low, float high)
{
    for (int i = 0; i < width; i++) {
        float value = width > 1 ? (float)i / (float)(width - 1) : 0;
        canvas_rectangle(canvas, x + i, y, width - i, 10,
                         colormap_color(THEME_LIGHT, value, false));
    }
    for (int i = 0; i < 3; i++) {
        char figure[24];
        const char *beyond = i == 0 && low > 0 ? "≤ " : i == 2 && high < 1 ? "≥ " : "";
        snprintf(figure, sizeof figure, "%s%.3g", beyond, low + 0.5 * i * ((double)high - low));
        canvas_text(canvas, figure, x + 0.5 * i * width, y + 12,
                    (TextStyle){.size = 11, .color = palette.muted, .across = (Align)i});
    }
}
