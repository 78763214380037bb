/* attentionpage.c -- plans a page of attention maps and paints it; see attentionpage.h.
 *
 * The cells are the largest with which the page keeps within the limits of a picture, from the
 * size that suits the number of words down to one pixel. */
#include "plots/attentionpage.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARGIN = 36, BAR = 180, BAR_GAP = 40, BAR_LABEL = 18, LEAST_WIDTH = 560 };
enum { TEXT_GAP = 5, HEAD_GAP = 26, SECTION_HEAD_GAP = 16 };
enum { COLUMN_GAP = 26, ROW_GAP = 24, SECTION_GAP = 40, LARGE_GAP = 48 };
enum { TITLE_SIZE = 22, SUBTITLE_SIZE = 14, SECTION_SIZE = 17, LINE_SIZE = 13 };
/* The limits of a cell: smaller ones are hard to see, larger ones waste space. */
enum { LARGE_CELL_MIN = 13, LARGE_CELL_MAX = 72, SINGLE_CELL_MAX = 96 };
enum { SMALL = 132, SMALL_CELL_MIN = 1, SMALL_CELL_MAX = 30 };

/* ---- layout ---- */

/* The most rows or columns of any map. */
static int most_words(const AttentionPage *page)
{
    int words = 1;
    for (int s = 0; s < page->count; s++) {
        const HeatMapSection *section = &page->sections[s];
        for (int i = 0; i < section->layers * section->heads; i++)
            words = larger(words, larger(section->maps[i].rows, section->maps[i].columns));
        if (section->large)
            words = larger(words, larger(section->large->rows, section->large->columns));
    }
    return words;
}

/* 6 words get cells of 72 and 22 to 30 pixels, 30 words of 22 and 4 to 6, 60 words of 13 and 2
 * to 3. A page without small maps has larger ones. */
static int ideal_large(const AttentionPage *page, int words)
{
    int most = SINGLE_CELL_MAX;
    for (int s = 0; s < page->count; s++)
        if (page->sections[s].layers > 0) most = LARGE_CELL_MAX;
    return clamp(PAGE_LARGE / words, LARGE_CELL_MIN, most);
}

/* The fewer small maps, the larger they are. */
static int ideal_small(const AttentionPage *page, int words)
{
    int side = PAGE_SMALL;
    for (int s = 0; s < page->count; s++) {
        const HeatMapSection *section = &page->sections[s];
        if (section->layers > 0) side = clamp(PAGE_LARGE / section->layers, 0, side);
        if (section->heads > 0) side = clamp(5 * PAGE_SMALL / section->heads, 0, side);
    }
    return clamp(larger(side, SMALL) / words, SMALL_CELL_MIN, SMALL_CELL_MAX);
}

/* Plans each map of a grid alone, then gives those of one column the same left and those of one
 * row the same top, so that their cells line up. */
static void plan_grid(Canvas *canvas, HeatMapPlan *maps, const HeatMapSection *section,
                      int cell)
{
    int layers = section->layers, heads = section->heads;
    for (int i = 0; i < layers * heads; i++)
        maps[i] = heatmap_plan(canvas, &section->maps[i], cell);
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

/* Places a planned grid with its corner at (x,y). Returns its bottom; *right (=) its right
 * edge. A map's overhang may use the empty corner above the next map's row labels. */
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

/* ---- texts ---- */

/* Puts a text that wraps at `width` at (MARGIN,y). Returns its bottom and a gap; y for NULL. */
static int put_text(Canvas *canvas, const char *text, int y, double size, bool bold, int width)
{
    TextStyle style = canvas_style(size, bold, width);
    style.wrap = true;
    return text ? y + (int)ceil(canvas_text(canvas, text, MARGIN, y, &style)) + TEXT_GAP : y;
}

/* The texts above the maps are put by the same functions before canvas_reserve, which measures
 * them, and after it, which paints them. They return the bottom. */
static int put_section_head(Canvas *canvas, const PagePlan *plan, const SectionPlan *at,
                            const HeatMapSection *section)
{
    int width = plan->width - 2 * MARGIN;
    int y = put_text(canvas, section->title, at->y, SECTION_SIZE, true, width);
    y = put_text(canvas, section->caption, y, LINE_SIZE, false, width);
    return put_text(canvas, section->remark, y, LINE_SIZE, false, width);
}

/* The subtitle, and which labels were left out. */
static void subtitle_text(char text[400], const AttentionPage *page, const PagePlan *plan)
{
    int step = 1;
    for (int s = 0; s < plan->count; s++) {
        const HeatMapPlan *large = &plan->section[s].large;
        if (page->sections[s].large)
            step = larger(step, larger(large->row_step, large->column_step));
    }
    int length = snprintf(text, 400, "%.300s", page->subtitle ? page->subtitle : "");
    if (step > 1)
        snprintf(text + length, (size_t)(400 - length),
                 "; the sentence is long, so only one word in %d has a label", step);
}

static int put_page_head(Canvas *canvas, const AttentionPage *page, const PagePlan *plan)
{
    char text[400];
    int width = plan->width - 2 * MARGIN - BAR - BAR_GAP;
    int y = put_text(canvas, page->title, MARGIN - 6, TITLE_SIZE, true, width);
    subtitle_text(text, page, plan);
    if (page->subtitle) y = put_text(canvas, text, y, SUBTITLE_SIZE, false, width);
    return larger(y, MARGIN + BAR_LABEL + HEATMAP_BAR_HEIGHT);
}

/* ---- places ---- */

/* Places a section from y on. */
static void place_section(Canvas *canvas, PagePlan *plan, SectionPlan *out,
                          const HeatMapSection *section, int y)
{
    int x = MARGIN, grid_right, bottom;
    out->y = y;
    out->bottom = y = put_section_head(canvas, plan, out, section) + SECTION_HEAD_GAP;
    if (section->large) {
        out->large = heatmap_plan(canvas, section->large, plan->large_cell);
        out->large.x = x;
        out->large.y = y;
        out->right = x + out->large.width;
        out->bottom = y + out->large.height;
        x = out->right + LARGE_GAP;
    }
    plan_grid(canvas, out->maps, section, plan->small_cell);
    bottom = place_grid(out->maps, section, x, y, &grid_right);
    if (section->layers > 0) out->right = larger(out->right, grid_right);
    out->bottom = larger(out->bottom, bottom);
}

/* Lays the page out with large maps of this cell; false if it is too large for a picture. The
 * first pass finds the width, at which the texts wrap in the second. */
static bool place_page(Canvas *canvas, const AttentionPage *page, PagePlan *plan, int words,
                       int cell)
{
    plan->width = 2 * MARGIN + LEAST_WIDTH;
    plan->large_cell = cell;
    plan->small_cell = larger(1, ideal_small(page, words) * cell / ideal_large(page, words));
    for (int pass = 0; pass < 2; pass++) {
        int y = put_page_head(canvas, page, plan) + HEAD_GAP, right = 0;
        for (int s = 0; s < page->count; s++) {
            SectionPlan *at = &plan->section[s];
            at->right = 0;
            place_section(canvas, plan, at, &page->sections[s], y);
            right = larger(right, at->right);
            y = at->bottom + (s + 1 < page->count ? SECTION_GAP : 0);
        }
        plan->width = larger(plan->width, right + MARGIN);
        plan->height = y + MARGIN;
        if (!canvas_fits(plan->width, plan->height)) return false;
    }
    return true;
}

/* With the largest cell that fits. */
static bool fit_page(Canvas *canvas, const AttentionPage *page, PagePlan *plan, Error *error)
{
    int words = most_words(page);
    for (int cell = ideal_large(page, words); cell > 0; cell--)
        if (place_page(canvas, page, plan, words, cell)) return true;
    return error_set(error,
                     "so many attention maps do not fit into a picture of %d x %d pixels: "
                     "choose fewer layers or heads, or a shorter sentence",
                     CANVAS_MAX_SIDE, CANVAS_MAX_SIDE);
}

/* plan (=) the places of all; attentionpage_plan_free in any case. */
static bool make_plan(PagePlan *plan, Canvas *canvas, const AttentionPage *page, Error *error)
{
    assert(page->count > 0);
    *plan = (PagePlan){.count = page->count};
    plan->section = calloc((size_t)page->count, sizeof *plan->section);
    if (!plan->section) return error_memory(error, "for a picture");
    for (int s = 0; s < page->count; s++) {
        const HeatMapSection *section = &page->sections[s];
        assert(section->large || section->layers * section->heads > 0);
        plan->section[s].maps =
            calloc((size_t)(section->layers * section->heads) + 1, sizeof(HeatMapPlan));
        if (!plan->section[s].maps) return error_memory(error, "for a picture");
    }
    return fit_page(canvas, page, plan, error);
}

void attentionpage_plan_free(PagePlan *plan)
{
    for (int s = 0; plan->section && s < plan->count; s++) free(plan->section[s].maps);
    free(plan->section);
    *plan = (PagePlan){0};
}

/* ---- paint ---- */

static void paint_section(Canvas *canvas, const PagePlan *plan, const SectionPlan *at,
                          const HeatMapSection *section, const Colormap *colors)
{
    put_section_head(canvas, plan, at, section);
    if (section->large)
        heatmap_paint(canvas, &at->large, section->large, colors, section->causal);
    for (int i = 0; i < section->layers * section->heads; i++)
        heatmap_paint(canvas, &at->maps[i], &section->maps[i], colors, section->causal);
}

static void paint_page(Canvas *canvas, const AttentionPage *page, const PagePlan *plan)
{
    Colormap colors = colormap_make(THEME_LIGHT);
    int bar_x = plan->width - MARGIN - BAR;
    TextStyle label = canvas_style(11, false, BAR);
    put_page_head(canvas, page, plan);
    canvas_text(canvas, page->measure ? page->measure : "attention weight", bar_x, MARGIN - 2,
                &label);
    heatmap_bar(canvas, bar_x, MARGIN + BAR_LABEL, BAR, &colors);
    for (int s = 0; s < page->count; s++)
        paint_section(canvas, plan, &plan->section[s], &page->sections[s], &colors);
}

bool attentionpage_draw(Canvas **canvas, const AttentionPage *page, PagePlan *plan,
                        Error *error)
{
    PagePlan own = {0};
    if (plan) *plan = own;
    if (!canvas_new(canvas, error)) return false;
    (*canvas)->format = page->format;
    (*canvas)->missing = page->missing;
    bool good = make_plan(&own, *canvas, page, error) &&
                canvas_reserve(*canvas, own.width, own.height, error);
    if (good) paint_page(*canvas, page, &own);
    if (good && plan) *plan = own;
    else attentionpage_plan_free(&own);
    return good;
}
