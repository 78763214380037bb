/* attentionplan.h -- where everything lies on a page of attention (attentionpage.h), before it is
 * painted. */
#ifndef PLOTS_ATTENTIONPLAN_H
#define PLOTS_ATTENTIONPLAN_H

#include "plots/heatmap.h"

typedef struct HeatMapSection {
    const char *title;     // "Encoder-decoder attention"
    const char *caption;   // one line: what a row and what a column is; or NULL
    const char *remark;    // one more; or NULL
    const HeatMap *maps;   // [layers,heads] small
    int layers, heads;     // at least 1 each, unless there is only a large map: then 0, 0
    const HeatMap *large;  // at the left of the others; or NULL
    bool causal;           // a row sees only columns up to itself: the rest is neutral
} HeatMapSection;

/* Where the maps of a section lie on the page. */
typedef struct SectionPlan {
    int y;              // of the section's title
    HeatMapPlan large;  // if there is one
    HeatMapPlan *maps;  // [layers,heads]
} SectionPlan;

typedef struct PagePlan {
    int width, height;
    int large_cell, small_cell;  // of every large map, and of every small one
    int count;
    SectionPlan *section;  // [count]
} PagePlan;

/* What is to be drawn. */
typedef struct AttentionPage {
    Canvas *canvas;
    const char *title, *subtitle;    // or NULL
    const HeatMapSection *sections;  // [count]
    int count;
} AttentionPage;

/* Pixels that the painter, too, must know; and how large a map may be: a large one is about as wide
 * as PAGE_LARGE, a small one at most PAGE_SMALL. */
enum {
    PAGE_MARGIN = 36,
    PAGE_BAR = 180,
    PAGE_BAR_GAP = 40,
    PAGE_TITLE = 32,
    PAGE_SUBTITLE = 22,
    PAGE_SECTION_TITLE = 24,
    PAGE_CAPTION = 20,
    PAGE_LARGE = 672,
    PAGE_SMALL = 190
};

/* *plan (=) the places of all; attentionplan_free in any case. False if it cannot be drawn. */
bool attentionplan_make(PagePlan *plan, const AttentionPage *page, Error *error);
void attentionplan_free(PagePlan *plan);

/* Of the page's title and subtitle, of a section's title and its lines. */
typedef enum {
    PAGE_STYLE_TITLE,
    PAGE_STYLE_SUBTITLE,
    PAGE_STYLE_SECTION,
    PAGE_STYLE_LINE
} PageStyle;
TextStyle attentionplan_style(const AttentionPage *page, PageStyle what, double max_width);

#endif
