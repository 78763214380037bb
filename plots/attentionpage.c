/* attentionpage.c -- sections of maps, laid out twice: once to find the size, once to paint.
 *
 * All large maps have cells of one size, and so have all small ones, so that they can be compared.
 * The sizes are the largest, from what suits the number of words down to one pixel, with which the
 * page keeps within the limits of a picture. */
#include "plots/attentionpage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARGIN = 36, COLUMN_GAP = 26, ROW_GAP = 24, SECTION_GAP = 40, LARGE_GAP = 48 };
enum {
    BAR = 180,
    BAR_GAP = 40,
    LEAST_WIDTH = 560,
    TITLE_HEIGHT = 32,
    SUBTITLE_HEIGHT = 22,
    HEAD_GAP = 26
};
enum { SECTION_TITLE_HEIGHT = 24, CAPTION_HEIGHT = 20, SECTION_HEAD_GAP = 16 };
/* A map is about so wide, unless its cells would be too small to see or needlessly large. */
enum { LARGE = 672, LARGE_CELL_MIN = 13, LARGE_CELL_MAX = 60 };
enum { SMALL = 132, SMALL_MOST = 190, SMALL_CELL_MIN = 1, SMALL_CELL_MAX = 30 };
enum { MAX_GRID = 1024 };

typedef struct Page {
    Canvas *canvas;
    const char *title, *subtitle;
    const HeatMapSection *sections;
    int count;
    int words;  // of the longest side of a map
} Page;

/* ---- what is to be drawn ---- */

/* The map of a layer and head, with its title; title [48] is room for one. */
static HeatMap grid_map(const HeatMapSection *section, int layer, int head, char title[48])
{
    HeatMap map = section->maps[layer * section->heads + head];
    if (!map.title) {
        snprintf(title, 48, "layer %d · head %d", layer + 1, head + 1);
        map.title = title;
    }
    return map;
}

static bool check_section(const HeatMapSection *section, Error *error)
{
    int layers = section->layers, heads = section->heads;
    bool grid = layers > 0 && heads > 0, none = layers == 0 && heads == 0;
    if (layers > MAX_GRID || heads > MAX_GRID || !(grid || (none && section->large)))
        return error_set(error, "%d layers of %d attention maps cannot be drawn", layers,
                         heads);
    for (int i = 0; i < layers * heads; i++) {
        if (!heatmap_check(&section->maps[i], error)) return false;
    }
    return !section->large || heatmap_check(section->large, error);
}

static void count_words(const HeatMap *map, int *words)
{
    if (map->rows > *words) *words = map->rows;
    if (map->columns > *words) *words = map->columns;
}

static int most_words(const HeatMapSection *sections, int count)
{
    int words = 1;
    for (int s = 0; s < count; s++) {
        int maps = sections[s].layers * sections[s].heads;
        for (int i = 0; i < maps; i++) count_words(&sections[s].maps[i], &words);
        if (sections[s].large) count_words(sections[s].large, &words);
    }
    return words;
}

/* ---- layout ---- */

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* 6 words get cells of 60 and 22 to 30 pixels, 30 words of 22 and 4 to 6, 60 words of 13 and 2 to
 * 3. */
static int ideal_large(const Page *page)
{
    return clamp(LARGE / page->words, LARGE_CELL_MIN, LARGE_CELL_MAX);
}

/* Few small maps are larger than many. */
static int ideal_small(const Page *page)
{
    int side = SMALL_MOST;
    for (int s = 0; s < page->count; s++) {
        const HeatMapSection *section = &page->sections[s];
        if (section->layers > 0) side = smaller(side, LARGE / section->layers);
        if (section->heads > 0) side = smaller(side, 5 * SMALL_MOST / section->heads);
    }
    return clamp(larger(side, SMALL) / page->words, SMALL_CELL_MIN, SMALL_CELL_MAX);
}

/* Plans the maps of a grid alone, then gives those of one column the same left and those of one
 * row the same top, so that their cells line up. */
static void plan_grid(const Page *page, HeatMapPlan *maps, const HeatMapSection *section,
                      int cell)
{
    int layers = section->layers, heads = section->heads;
    char title[48];
    for (int i = 0; i < layers * heads; i++) {
        HeatMap map = grid_map(section, i / heads, i % heads, title);
        maps[i] = heatmap_plan(page->canvas, &map, cell);
    }
    for (int i = 0; i < layers * heads; i++) {
        int left = 0, top = 0;
        for (int layer = 0; layer < layers; layer++)
            left = larger(left, maps[layer * heads + i % heads].left);
        for (int head = 0; head < heads; head++)
            top = larger(top, maps[i / heads * heads + head].top);
        maps[i].width += left - maps[i].left;
        maps[i].height += top - maps[i].top;
        maps[i].left = left;
        maps[i].top = top;
    }
}

/* Places a planned grid with its corner at (x,y); returns its bottom and sets its right edge.
 * What hangs over a map at the right may use the empty corner above the next one's row labels. */
static int place_grid(HeatMapPlan *maps, const HeatMapSection *section, int x, int y,
                      int *right)
{
    int layers = section->layers, heads = section->heads;
    *right = x;
    for (int head = 0; head < heads; head++) {
        int next = 0;
        for (int layer = 0; layer < layers; layer++) {
            HeatMapPlan *map = &maps[layer * heads + head];
            map->x = x;
            int cells = x + map->width - map->overhang,
                corner = head + 1 < heads ? map[1].left : 0;
            next = larger(next, cells + larger(COLUMN_GAP, map->overhang + 14 - corner));
            *right = larger(*right, x + map->width);
        }
        x = next;
    }
    for (int layer = 0; layer < layers; layer++) {
        int height = 0;
        for (int head = 0; head < heads; head++) {
            maps[layer * heads + head].y = y;
            height = larger(height, maps[layer * heads + head].height);
        }
        y += height + (layer + 1 < layers ? ROW_GAP : 0);
    }
    return y;
}

/* Places a section from y on; returns its bottom and widens *right to its right edge. */
static int place_section(const Page *page, PagePlan *plan, int s, int y, int *right)
{
    const HeatMapSection *section = &page->sections[s];
    SectionPlan *out = &plan->section[s];
    int x = MARGIN, grid_right, bottom;
    out->y = y;
    y += (section->title ? SECTION_TITLE_HEIGHT : 0) + (section->caption ? CAPTION_HEIGHT : 0) +
         (section->remark ? CAPTION_HEIGHT : 0) + SECTION_HEAD_GAP;
    int large_bottom = y;
    if (section->large) {
        out->large = heatmap_plan(page->canvas, section->large, plan->large_cell);
        out->large.x = x;
        out->large.y = y;
        *right = larger(*right, x + out->large.width);
        x += out->large.width + LARGE_GAP;
        large_bottom = y + out->large.height;
    }
    plan_grid(page, out->maps, section, plan->small_cell);
    bottom = place_grid(out->maps, section, x, y, &grid_right);
    if (section->layers > 0) *right = larger(*right, grid_right);
    return larger(bottom, large_bottom);
}

static TextStyle text_style(const Page *page, double size, bool bold, double max_width)
{
    const Palette *palette = theme_palette(canvas_theme(page->canvas));
    return (TextStyle){.size = size,
                       .bold = bold,
                       .color = bold ? palette->ink : palette->muted,
                       .max_width = max_width};
}

static TextStyle title_style(const Page *page, double max_width)
{
    return text_style(page, 22, true, max_width);
}

static TextStyle subtitle_style(const Page *page, double max_width)
{
    return text_style(page, 14, false, max_width);
}

static TextStyle caption_style(const Page *page, double max_width)
{
    return text_style(page, 13, false, max_width);
}

/* How wide the page must be for its own words; the longest of them are cut. */
static int words_width(const Page *page)
{
    enum { WIDEST = 1000 };
    TextStyle title = title_style(page, WIDEST), caption = caption_style(page, WIDEST);
    TextStyle subtitle = subtitle_style(page, WIDEST);
    double beside = 0, width = LEAST_WIDTH;  // beside the bar
    if (page->title) beside = canvas_measure(page->canvas, page->title, &title).width;
    if (page->subtitle)
        beside = fmax(beside, canvas_measure(page->canvas, page->subtitle, &subtitle).width);
    width = fmax(width, beside + BAR_GAP + BAR + 2);
    for (int s = 0; s < page->count; s++) {
        const char *text[] = {page->sections[s].caption, page->sections[s].remark};
        for (int i = 0; i < 2; i++)
            if (text[i])
                width = fmax(width, canvas_measure(page->canvas, text[i], &caption).width);
    }
    return (int)ceil(width);
}

static int head_height(const Page *page)
{
    int words = (page->title ? TITLE_HEIGHT : 0) + (page->subtitle ? SUBTITLE_HEIGHT : 0);
    return larger(words, HEATMAP_BAR_HEIGHT) + HEAD_GAP;
}

/* Lays the page out with large maps of this cell; false if it is too large for a picture. */
static bool place_page(const Page *page, PagePlan *plan, int cell)
{
    int y = MARGIN + head_height(page), right = MARGIN + words_width(page);
    plan->large_cell = cell;
    plan->small_cell = larger(1, ideal_small(page) * cell / ideal_large(page));
    for (int s = 0; s < page->count; s++) {
        y = place_section(page, plan, s, y, &right);
        if (y > CANVAS_MAX_SIDE) return false;
        if (s + 1 < page->count) y += SECTION_GAP;
    }
    plan->width = right + MARGIN;
    plan->height = y + MARGIN;
    return canvas_fits(page->canvas, plan->width, plan->height);
}

/* The largest cell that fits, by bisection: a page with smaller cells is never larger. */
static bool fit_page(const Page *page, PagePlan *plan, Error *error)
{
    int fits = 0, fails = ideal_large(page);
    if (place_page(page, plan, fails)) return true;
    while (fails - fits > 1) {
        int middle = (fits + fails) / 2;
        if (place_page(page, plan, middle))
            fits = middle;
        else
            fails = middle;
    }
    if (fits > 0) return place_page(page, plan, fits);
    return error_set(error,
                     "so much attention does not fit a picture of %d x %d pixels: choose "
                     "fewer layers or heads, or a shorter sentence",
                     CANVAS_MAX_SIDE, CANVAS_MAX_SIDE);
}

/* ---- paint ---- */

static void paint_section(const Page *page, const PagePlan *plan, int s, const Colormap *colors)
{
    const HeatMapSection *section = &page->sections[s];
    const SectionPlan *at = &plan->section[s];
    double room = plan->width - 2 * MARGIN;
    int y = at->y;
    if (section->title) {
        TextStyle style = text_style(page, 17, true, room);
        canvas_text(page->canvas, section->title, MARGIN, y, &style);
        y += SECTION_TITLE_HEIGHT;
    }
    const char *lines[] = {section->caption, section->remark};
    for (int i = 0; i < 2; i++) {
        TextStyle style = caption_style(page, room);
        if (!lines[i]) continue;
        canvas_text(page->canvas, lines[i], MARGIN, y, &style);
        y += CAPTION_HEIGHT;
    }
    if (section->large)
        heatmap_paint(page->canvas, &at->large, section->large, colors, section->causal);
    char title[48];
    for (int i = 0; i < section->layers * section->heads; i++) {
        HeatMap map = grid_map(section, i / section->heads, i % section->heads, title);
        heatmap_paint(page->canvas, &at->maps[i], &map, colors, section->causal);
    }
}

/* The subtitle, and what had to be left out. */
static void subtitle_text(char text[400], const Page *page, const PagePlan *plan)
{
    int step = 1;
    for (int s = 0; s < plan->count; s++) {
        if (!page->sections[s].large) continue;
        step = larger(
            step, larger(plan->section[s].large.row_step, plan->section[s].large.column_step));
    }
    int length = snprintf(text, 400, "%.300s", page->subtitle);
    if (step > 1)
        snprintf(text + length, (size_t)(400 - length),
                 "; so many words do not fit at full size: one in %d is written", step);
}

static void paint_page(const Page *page, const PagePlan *plan)
{
    Colormap colors = colormap_make(canvas_theme(page->canvas));
    int bar_x = plan->width - MARGIN - BAR, y = MARGIN;
    double room = bar_x - MARGIN - BAR_GAP;
    heatmap_bar(page->canvas, bar_x, y + 4, BAR, &colors);
    if (page->title) {
        TextStyle style = title_style(page, room);
        canvas_text(page->canvas, page->title, MARGIN, y - 6, &style);
        y += TITLE_HEIGHT;
    }
    if (page->subtitle) {
        char text[400];
        TextStyle style = subtitle_style(page, room);
        subtitle_text(text, page, plan);
        canvas_text(page->canvas, text, MARGIN, y - 4, &style);
    }
    for (int s = 0; s < page->count; s++) paint_section(page, plan, s, &colors);
}

/* ---- the page ---- */

void attentionpage_free(PagePlan *plan)
{
    for (int s = 0; plan->section && s < plan->count; s++) free(plan->section[s].maps);
    free(plan->section);
    *plan = (PagePlan){0};
}

static bool allocate_plan(PagePlan *plan, const HeatMapSection *sections, int count,
                          Error *error)
{
    *plan = (PagePlan){.count = count};
    plan->section = calloc((size_t)count, sizeof *plan->section);
    for (int s = 0; plan->section && s < count; s++) {
        size_t maps = (size_t)(sections[s].layers * sections[s].heads);
        plan->section[s].maps = calloc(maps + 1, sizeof *plan->section[s].maps);
        if (!plan->section[s].maps) return error_set(error, "not enough memory for a picture");
    }
    return plan->section || error_set(error, "not enough memory for a picture");
}

static bool draw(Page *page, PagePlan *plan, Error *error)
{
    if (!allocate_plan(plan, page->sections, page->count, error)) return false;
    if (!fit_page(page, plan, error)) return false;
    if (!canvas_reserve(page->canvas, plan->width, plan->height, error)) return false;
    paint_page(page, plan);
    return canvas_check(page->canvas, error);
}

bool attentionpage_draw_plan(Canvas **page, PagePlan *plan, const char *title,
                             const char *subtitle, const HeatMapSection *sections, int count,
                             Theme theme, int scale, Error *error)
{
    *page = NULL;
    *plan = (PagePlan){0};
    if (count < 1) return error_set(error, "there is no attention to draw");
    for (int s = 0; s < count; s++) {
        if (!check_section(&sections[s], error)) return false;
    }
    Page it = {.title = title, .subtitle = subtitle, .sections = sections, .count = count};
    it.words = most_words(sections, count);
    if (!canvas_new(&it.canvas, theme, error)) return false;
    canvas_set_scale(it.canvas, scale);
    if (!draw(&it, plan, error)) {
        canvas_free(it.canvas);
        attentionpage_free(plan);
        return false;
    }
    *page = it.canvas;
    return true;
}

bool attentionpage_draw(Canvas **page, const char *title, const char *subtitle,
                        const HeatMapSection *sections, int count, Theme theme, int scale,
                        Error *error)
{
    PagePlan plan;
    bool done = attentionpage_draw_plan(page, &plan, title, subtitle, sections, count, theme,
                                        scale, error);
    attentionpage_free(&plan);
    return done;
}
