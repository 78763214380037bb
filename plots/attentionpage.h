/* attentionpage.h -- attention on one page: what looked at what, at a glance.
 *
 *     jane visits africa → jane visite l'afrique                      0 ▁▂▃▄▅▆▇ 1
 *     subtitle
 *     Encoder-decoder attention
 *     a row is a word being written, a column a source word; a row adds up to 1
 *                    layer 1 · head 1   layer 1 · head 2   ...
 *     ┌───────────┐     ┌────┐             ┌────┐
 *     │   large   │     └────┘             └────┘          without words, its note below
 *     │ its words │     0.4 bits           0.9 bits
 *     └───────────┘  layer 2 · head 1   ...
 *     Encoder self-attention
 *     ...
 *
 * The page grows with the sentence, up to CANVAS_MAX_SIDE and CANVAS_MAX_PIXELS; from there on
 * the cells shrink, then only some of the words are written, which the subtitle says, and if a
 * cell would be smaller than a pixel the error says what to leave out. */
#ifndef PLOTS_ATTENTIONPAGE_H
#define PLOTS_ATTENTIONPAGE_H

#include "plots/heatmap.h"

typedef struct HeatMapSection {
    const char *title;     // "Encoder-decoder attention"
    const char *caption;   // one line: what a row and what a column is; or NULL
    const char *remark;    // one more; or NULL
    const HeatMap *maps;   // [layers,heads] small; without a title it is "layer 1 · head 2"
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

/* Draws the page, scale times as large; *page is for canvas_free. title, subtitle: may be NULL. */
bool attentionpage_draw(Canvas **page, const char *title, const char *subtitle,
                        const HeatMapSection *sections, int count, Theme theme, int scale,
                        Error *error);

/* The same, and says where everything is: plan is for attentionpage_free. */
bool attentionpage_draw_plan(Canvas **page, PagePlan *plan, const char *title,
                             const char *subtitle, const HeatMapSection *sections, int count,
                             Theme theme, int scale, Error *error);
void attentionpage_free(PagePlan *plan);

#endif
