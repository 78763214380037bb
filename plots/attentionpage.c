/* attentionpage.c -- plans a page of attention maps and paints it; see attentionpage.h.
 *
 * The cells are the largest with which the page keeps within the limits of a picture, from the
 * size that suits the number of words down to one pixel. */
#include "plots/attentionpage.h"

enum { MARGIN = 36, BAR = 180, BAR_GAP = 40, BAR_LABEL = 18, LEAST_WIDTH = 560 };
enum { TEXT_GAP = 5, HEAD_GAP = 26, SECTION_HEAD_GAP = 16 };
enum { COLUMN_GAP = 26, ROW_GAP = 24, SECTION_GAP = 40, LARGE_GAP = 48 };
enum { TITLE_SIZE = 22, SUBTITLE_SIZE = 14, SECTION_SIZE = 17, LINE_SIZE = 13 };
/* The limits of a cell: smaller ones are hard to see, larger ones waste space. */
enum { LARGE_CELL_MIN = 13, LARGE_CELL_MAX = 72, SINGLE_CELL_MAX = 96 };
enum { SMALL_CELL_MIN = 1, SMALL_CELL_MAX = 30 };
enum { LARGE_SIDE = 672, SMALL_SIDE = 240, SMALL_SIDE_MIN = 132 };  // pixels of a map, about
/* 240 pt in pixels of 1/96 inch. A PNG has BARE_SCALE times as many. */
enum { BARE_WIDTH = 320, BARE_SCALE = 4, BARE_MARGIN = 1 };

/* ---- layout ---- */

/* The cells that suit the number of words: 6 words get cells of 72 and 22 to 30 pixels, 30 words
 * of 22 and 4 to 6, 60 words of 13 and 2 to 3. A page without small maps has larger ones; the
 * fewer small maps, the larger they are. */
static void ideal_cells(int *large, int *small, const AttentionPage *page)
{
    int words = 1, most = SINGLE_CELL_MAX, side = SMALL_SIDE;
    for (int s = 0; s < page->count; s++) {
        const HeatMapSection *section = &page->sections[s];
        const HeatMap *map = section->large ? section->large : section->maps;
        words = larger(words, larger(map->rows, map->columns));
        if (!section->layers) continue;
        most = LARGE_CELL_MAX;
        side = clamp(LARGE_SIDE / section->layers, 0, side);
        side = clamp(5 * SMALL_SIDE / section->heads, 0, side);
    }
    *large = clamp(LARGE_SIDE / words, LARGE_CELL_MIN, most);
    *small = clamp(larger(side, SMALL_SIDE_MIN) / words, SMALL_CELL_MIN, SMALL_CELL_MAX);
}

/* Places the small maps with their corner at (x,y). What overhangs the cells of one, the widest
 * slanted label or note, may use the empty corner above the next one's row labels. */
static void place_grid(Canvas *canvas, SectionPlan *out, const HeatMapSection *section,
                       int cell, int x, int y)
{
    HeatMapPlan *small = &out->small;
    *small = heatmap_plan(canvas, section->maps, cell);
    int cells = small->width - small->overhang;
    for (int i = 1; i < section->layers * section->heads; i++)
        small->overhang =
            larger(small->overhang, heatmap_plan(canvas, &section->maps[i], cell).overhang);
    small->width = cells + small->overhang;
    small->x = x;
    small->y = y;
    out->across = cells + larger(COLUMN_GAP, small->overhang + 14 - small->left);
    out->down = small->height + ROW_GAP;
    out->right = larger(out->right, x + (section->heads - 1) * out->across + small->width);
    out->bottom = larger(out->bottom, y + section->layers * out->down - ROW_GAP);
}

/* ---- texts ---- */

/* Puts a text that wraps at `width` at (MARGIN,y). Returns its bottom and a gap; y for NULL. */
static int put_text(Canvas *canvas, const char *text, int y, double size, bool bold, int width)
{
    TextStyle style = canvas_style(size, bold, width);
    style.wrap = true;
    return text ? y + (int)ceil(canvas_text(canvas, text, MARGIN, y, style)) + TEXT_GAP : y;
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

/* The subtitle says which labels were left out. */
static int put_page_head(Canvas *canvas, const AttentionPage *page, const PagePlan *plan)
{
    char text[400], labels[80] = "";
    int width = plan->width - 2 * MARGIN - BAR - BAR_GAP, step = 1;
    int y = put_text(canvas, page->title, MARGIN - 6, TITLE_SIZE, true, width);
    for (int s = 0; s < page->count; s++)
        if (page->sections[s].large) step = larger(step, plan->section[s].large.label_step);
    if (step > 1)
        snprintf(labels, sizeof labels,
                 "; the sentence is long, so only one word in %d has a label", step);
    snprintf(text, sizeof text, "%.300s%s", page->subtitle ? page->subtitle : "", labels);
    if (page->subtitle) y = put_text(canvas, text, y, SUBTITLE_SIZE, false, width);
    return larger(y, MARGIN + BAR_LABEL + HEATMAP_BAR_HEIGHT);
}

/* ---- places ---- */

static void place_section(Canvas *canvas, PagePlan *plan, SectionPlan *out,
                          const HeatMapSection *section, int y)
{
    int x = MARGIN;
    *out = (SectionPlan){.y = y};
    out->bottom = y = put_section_head(canvas, plan, out, section) + SECTION_HEAD_GAP;
    if (section->large) {
        out->large = heatmap_plan(canvas, section->large, plan->large_cell);
        out->large.x = x;
        out->large.y = y;
        out->right = x + out->large.width;
        out->bottom = y + out->large.height;
        x = out->right + LARGE_GAP;
    }
    if (section->layers) place_grid(canvas, out, section, plan->small_cell, x, y);
}

/* Lays the page out with cells of these sizes; false if it is too large for a picture. The first
 * pass finds the width, at which the texts wrap in the second. */
static bool place_page(Canvas *canvas, const AttentionPage *page, PagePlan *plan, int large,
                       int small)
{
    *plan =
        (PagePlan){.width = 2 * MARGIN + LEAST_WIDTH, .large_cell = large, .small_cell = small};
    for (int pass = 0; pass < 2; pass++) {
        int y = put_page_head(canvas, page, plan) + HEAD_GAP, right = 0;
        for (int s = 0; s < page->count; s++) {
            SectionPlan *at = &plan->section[s];
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

/* With the largest cells that fit. */
static bool fit_page(Canvas *canvas, const AttentionPage *page, PagePlan *plan, Error *error)
{
    int large, small;
    ideal_cells(&large, &small, page);
    for (int cell = large; cell > 0; cell--)
        if (place_page(canvas, page, plan, cell, larger(1, small * cell / large))) return true;
    return error_set(error,
                     "so many attention maps do not fit into a picture of %d x %d pixels: "
                     "choose fewer layers or heads, or a shorter sentence",
                     CANVAS_MAX_SIDE, CANVAS_MAX_SIDE);
}

/* The largest cells with which a map alone is no wider than a column. *map (=) it, with its labels */
static bool fit_bare(Canvas *canvas, const AttentionPage *page, PagePlan *plan, HeatMap *map,
                     Error *error)
{
    int scale = page->format == CANVAS_PNG ? BARE_SCALE : 1, cell = 0;
    int width = scale * BARE_WIDTH, available = width - 2 * scale * BARE_MARGIN;
    HeatMapPlan *at = &plan->section->large;
    *map = *page->sections->large;
    map->label_size = scale * 8 * 96.0 / 72;
    for (cell = available / map->columns; cell > 1; cell--)
        if (heatmap_plan(canvas, map, cell).width <= available) break;
    *at = heatmap_plan(canvas, map, larger(cell, 1));
    at->x = at->y = scale * BARE_MARGIN;
    plan->width = larger(width, at->width + 2 * at->x);
    plan->height = at->height + 2 * at->y;
    return canvas_fits(plan->width, plan->height) ||
           error_set(error, "the map is too large for a picture: choose fewer words");
}

/* ---- paint ---- */

static void paint_section(Canvas *canvas, const AttentionPage *page, const PagePlan *plan,
                          const SectionPlan *at, const HeatMapSection *section)
{
    put_section_head(canvas, plan, at, section);
    if (section->large)
        heatmap_paint(canvas, &at->large, section->large, page->low, page->high);
    for (int i = 0; i < section->layers * section->heads; i++) {
        HeatMapPlan small = at->small;
        small.x += i % section->heads * at->across;
        small.y += i / section->heads * at->down;
        heatmap_paint(canvas, &small, &section->maps[i], page->low, page->high);
    }
}

static void paint_page(Canvas *canvas, const AttentionPage *page, const PagePlan *plan)
{
    int bar_x = plan->width - MARGIN - BAR;
    put_page_head(canvas, page, plan);
    canvas_text(canvas, "attention weight", bar_x, MARGIN - 2, canvas_style(11, false, BAR));
    heatmap_bar(canvas, bar_x, MARGIN + BAR_LABEL, BAR, page->low,
                page->high > page->low ? page->high : 1);
    for (int s = 0; s < page->count; s++)
        paint_section(canvas, page, plan, &plan->section[s], &page->sections[s]);
}

bool attentionpage_draw(Canvas **canvas, PagePlan *plan, const AttentionPage *page,
                        Error *error)
{
    HeatMap map;
    assert(page->count > 0 && page->count <= PAGE_SECTIONS);
    if (!canvas_new(canvas, error)) return false;
    (*canvas)->format = page->format;
    (*canvas)->missing = page->missing;
    if (!canvas_set_font(*canvas, page->font, error) ||
        !(page->bare ? fit_bare(*canvas, page, plan, &map, error)
                     : fit_page(*canvas, page, plan, error)) ||
        !canvas_reserve(*canvas, plan->width, plan->height, error))
        return false;
    if (page->bare) heatmap_paint(*canvas, &plan->section->large, &map, page->low, page->high);
    else paint_page(*canvas, page, plan);
    return true;
}
