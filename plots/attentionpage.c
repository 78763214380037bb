/* attentionpage.c -- a page of attention, painted as it was planned; see attentionpage.h. */
#include "plots/attentionpage.h"

#include <stdio.h>

static void paint_section(const AttentionPage *page, const PagePlan *plan, int s,
                          const Colormap *colors)
{
    const HeatMapSection *section = &page->sections[s];
    const SectionPlan *at = &plan->section[s];
    double room = plan->width - 2 * PAGE_MARGIN;
    int y = at->y;
    if (section->title) {
        TextStyle style = attentionplan_style(page, PAGE_STYLE_SECTION, room);
        canvas_text(page->canvas, section->title, PAGE_MARGIN, y, &style);
        y += PAGE_SECTION_TITLE;
    }
    const char *lines[] = {section->caption, section->remark};
    for (int i = 0; i < 2; i++) {
        TextStyle style = attentionplan_style(page, PAGE_STYLE_LINE, room);
        if (!lines[i]) continue;
        canvas_text(page->canvas, lines[i], PAGE_MARGIN, y, &style);
        y += PAGE_CAPTION;
    }
    if (section->large)
        heatmap_paint(page->canvas, &at->large, section->large, colors, section->causal);
    for (int i = 0; i < section->layers * section->heads; i++)
        heatmap_paint(page->canvas, &at->maps[i], &section->maps[i], colors, section->causal);
}

/* The subtitle, and what had to be left out. */
static void subtitle_text(char text[400], const AttentionPage *page, const PagePlan *plan)
{
    int step = 1;
    for (int s = 0; s < plan->count; s++) {
        if (!page->sections[s].large) continue;
        const HeatMapPlan *large = &plan->section[s].large;
        if (large->row_step > step) step = large->row_step;
        if (large->column_step > step) step = large->column_step;
    }
    int length = snprintf(text, 400, "%.300s", page->subtitle);
    if (step > 1)
        snprintf(text + length, (size_t)(400 - length),
                 "; so many words do not fit at full size: one in %d is written", step);
}

static void paint_page(const AttentionPage *page, const PagePlan *plan)
{
    Colormap colors = colormap_make(canvas_theme(page->canvas));
    int bar_x = plan->width - PAGE_MARGIN - PAGE_BAR, y = PAGE_MARGIN;
    double room = bar_x - PAGE_MARGIN - PAGE_BAR_GAP;
    heatmap_bar(page->canvas, bar_x, y + 4, PAGE_BAR, &colors);
    if (page->title) {
        TextStyle style = attentionplan_style(page, PAGE_STYLE_TITLE, room);
        canvas_text(page->canvas, page->title, PAGE_MARGIN, y - 6, &style);
        y += PAGE_TITLE;
    }
    if (page->subtitle) {
        char text[400];
        TextStyle style = attentionplan_style(page, PAGE_STYLE_SUBTITLE, room);
        subtitle_text(text, page, plan);
        canvas_text(page->canvas, text, PAGE_MARGIN, y - 4, &style);
    }
    for (int s = 0; s < page->count; s++) paint_section(page, plan, s, &colors);
}

static bool draw(const AttentionPage *page, PagePlan *plan, Error *error)
{
    if (!attentionplan_make(plan, page, error) ||
        !canvas_reserve(page->canvas, plan->width, plan->height, error))
        return false;
    paint_page(page, plan);
    return canvas_check(page->canvas, error);
}

bool attentionpage_draw_plan(Canvas **page, PagePlan *plan, const char *title,
                             const char *subtitle, const HeatMapSection *sections, int count,
                             Theme theme, int scale, Error *error)
{
    AttentionPage it = {
        .title = title, .subtitle = subtitle, .sections = sections, .count = count};
    *page = NULL;
    *plan = (PagePlan){0};
    if (!canvas_new(&it.canvas, theme, error)) return false;
    canvas_set_scale(it.canvas, scale);
    if (!draw(&it, plan, error)) {
        canvas_free(it.canvas);
        attentionplan_free(plan);
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
    attentionplan_free(&plan);
    return done;
}
