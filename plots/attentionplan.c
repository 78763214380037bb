/* attentionplan.c -- sections of maps, laid out as often as it takes to find a size that fits.
 *
 * All large maps have cells of one size, and so have all small ones, so that they can be compared.
 * The sizes are the largest, from what suits the number of words down to one pixel, with which the
 * page keeps within the limits of a picture. */
#include "plots/attentionplan.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMN_GAP = 26, ROW_GAP = 24, SECTION_GAP = 40, LARGE_GAP = 48 };
enum { LEAST_WIDTH = 560, HEAD_GAP = 26, SECTION_HEAD_GAP = 16, MAX_GRID = 1024 };
/* A map is as wide as it is to be, unless its cells would be too small to see or needlessly large. */
enum { LARGE_CELL_MIN = 13, LARGE_CELL_MAX = 60 };
enum { SMALL = 132, SMALL_CELL_MIN = 1, SMALL_CELL_MAX = 30 };

/* ---- what is to be drawn ---- */

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

TextStyle attentionplan_style(const AttentionPage *page, PageStyle what, double max_width)
{
    static const int sizes[] = {22, 14, 17, 13};
    const Palette *palette = theme_palette(canvas_theme(page->canvas));
    bool bold = what == PAGE_STYLE_TITLE || what == PAGE_STYLE_SECTION;
    return (TextStyle){.size = sizes[what],
                       .bold = bold,
                       .color = bold ? palette->ink : palette->muted,
                       .max_width = max_width};
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
static int ideal_large(int words)
{
    return clamp(PAGE_LARGE / words, LARGE_CELL_MIN, LARGE_CELL_MAX);
}

/* Few small maps are larger than many. */
static int ideal_small(const AttentionPage *page, int words)
{
    int side = PAGE_SMALL;
    for (int s = 0; s < page->count; s++) {
        const HeatMapSection *section = &page->sections[s];
        if (section->layers > 0) side = smaller(side, PAGE_LARGE / section->layers);
        if (section->heads > 0) side = smaller(side, 5 * PAGE_SMALL / section->heads);
    }
    return clamp(larger(side, SMALL) / words, SMALL_CELL_MIN, SMALL_CELL_MAX);
}

/* Plans the maps of a grid alone, then gives those of one column the same left and those of one
 * row the same top, so that their cells line up. */
static void plan_grid(const AttentionPage *page, HeatMapPlan *maps,
                      const HeatMapSection *section, int cell)
{
    int layers = section->layers, heads = section->heads;
    for (int i = 0; i < layers * heads; i++)
        maps[i] = heatmap_plan(page->canvas, &section->maps[i], cell);
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
static int place_section(const AttentionPage *page, PagePlan *plan, int s, int y, int *right)
{
    const HeatMapSection *section = &page->sections[s];
    SectionPlan *out = &plan->section[s];
    int x = PAGE_MARGIN, grid_right, bottom;
    out->y = y;
    y += (section->title ? PAGE_SECTION_TITLE : 0) + (section->caption ? PAGE_CAPTION : 0) +
         (section->remark ? PAGE_CAPTION : 0) + SECTION_HEAD_GAP;
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

/* How wide the page must be for its own words; the longest of them are cut. */
static int words_width(const AttentionPage *page)
{
    enum { WIDEST = 1000 };
    TextStyle title = attentionplan_style(page, PAGE_STYLE_TITLE, WIDEST),
              caption = attentionplan_style(page, PAGE_STYLE_LINE, WIDEST);
    TextStyle subtitle = attentionplan_style(page, PAGE_STYLE_SUBTITLE, WIDEST);
    double beside = 0, width = LEAST_WIDTH;  // beside the bar
    if (page->title) beside = canvas_measure(page->canvas, page->title, &title).width;
    if (page->subtitle)
        beside = fmax(beside, canvas_measure(page->canvas, page->subtitle, &subtitle).width);
    width = fmax(width, beside + PAGE_BAR_GAP + PAGE_BAR + 2);
    for (int s = 0; s < page->count; s++) {
        const char *text[] = {page->sections[s].caption, page->sections[s].remark};
        for (int i = 0; i < 2; i++)
            if (text[i])
                width = fmax(width, canvas_measure(page->canvas, text[i], &caption).width);
    }
    return (int)ceil(width);
}

static int head_height(const AttentionPage *page)
{
    int words = (page->title ? PAGE_TITLE : 0) + (page->subtitle ? PAGE_SUBTITLE : 0);
    return larger(words, HEATMAP_BAR_HEIGHT) + HEAD_GAP;
}

/* Lays the page out with large maps of this cell; false if it is too large for a picture. */
static bool place_page(const AttentionPage *page, PagePlan *plan, int words, int cell)
{
    int y = PAGE_MARGIN + head_height(page), right = PAGE_MARGIN + words_width(page);
    plan->large_cell = cell;
    plan->small_cell = larger(1, ideal_small(page, words) * cell / ideal_large(words));
    for (int s = 0; s < page->count; s++) {
        y = place_section(page, plan, s, y, &right);
        if (y > CANVAS_MAX_SIDE) return false;
        if (s + 1 < page->count) y += SECTION_GAP;
    }
    plan->width = right + PAGE_MARGIN;
    plan->height = y + PAGE_MARGIN;
    return canvas_fits(page->canvas, plan->width, plan->height);
}

/* The largest cell that fits, by bisection: a page with smaller cells is never larger. */
static bool fit_page(const AttentionPage *page, PagePlan *plan, Error *error)
{
    int words = most_words(page->sections, page->count);
    int fits = 0, fails = ideal_large(words);
    if (place_page(page, plan, words, fails)) return true;
    while (fails - fits > 1) {
        int middle = (fits + fails) / 2;
        if (place_page(page, plan, words, middle)) fits = middle;
        else fails = middle;
    }
    if (fits > 0) return place_page(page, plan, words, fits);
    return error_set(error,
                     "so much attention does not fit a picture of %d x %d pixels: choose "
                     "fewer layers or heads, or a shorter sentence",
                     CANVAS_MAX_SIDE, CANVAS_MAX_SIDE);
}

/* ---- the plan ---- */

void attentionplan_free(PagePlan *plan)
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

bool attentionplan_make(PagePlan *plan, const AttentionPage *page, Error *error)
{
    *plan = (PagePlan){0};
    if (page->count < 1) return error_set(error, "there is no attention to draw");
    for (int s = 0; s < page->count; s++)
        if (!check_section(&page->sections[s], error)) return false;
    return allocate_plan(plan, page->sections, page->count, error) &&
           fit_page(page, plan, error);
}
