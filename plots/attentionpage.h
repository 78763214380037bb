/* attentionpage.h -- attention maps on one page.
 *
 *     jane visits africa → jane visite l'afrique                 attention weight
 *     subtitle                                                        0 ▁▂▃▄▅▆▇ 1
 *     Cross-attention
 *     caption: what a row and what a column is
 *                    layer 1 · head 1   layer 1 · head 2   ...
 *     ┌───────────┐     ┌────┐             ┌────┐
 *     │   large   │     └────┘             └────┘          a note below
 *     │ labels    │     0.4 bits           0.9 bits
 *     └───────────┘  layer 2 · head 1   ...
 *     Encoder self-attention
 *     ...
 *
 * Texts wrap at the width of the maps. All large maps have cells of one size, and so have all
 * small ones, so that they can be compared. The page grows with the sentence, up to CANVAS_MAX_SIDE and CANVAS_MAX_PIXELS.
 * Beyond that the cells shrink; then only every n-th word has a label, which the subtitle says.
 * If a cell would be smaller than a pixel, the error says what to leave out. */
#pragma once

#include "plots/heatmap.h"

/* All maps of a section have the same rows and columns, and all small ones the same labels. */
typedef struct HeatMapSection {
    const char *title;     // "Cross-attention"; or NULL
    const char *caption;   // what a row and what a column is; or NULL
    const char *remark;    // a paragraph below it; or NULL
    const HeatMap *maps;   // [layers,heads] small
    int layers, heads;     // at least 1 each; or 0, 0 if there is only a large map
    const HeatMap *large;  // to the left of the small ones; or NULL
} HeatMapSection;

typedef struct AttentionPage {
    const char *title, *subtitle;    // or NULL
    const HeatMapSection *sections;  // [count]
    int count;                       // 1 .. PAGE_SECTIONS
    CanvasFormat format;
    bool bare;               // the first large map alone, 240 pt wide, with labels of 8 pt
    float low, high;         // the weights of the first and the last colour; 0, 0: 0 and 1
    const char *font;        // a family; or NULL
    MissingGlyphs *missing;  // (+=) characters that no font has; or NULL
} AttentionPage;

/* Where the maps of a section lie on the page. Small map [l,h] is h across and l down from the
 * first one. */
typedef struct SectionPlan {
    int y;              // of the section's title
    int right, bottom;  // of its maps
    HeatMapPlan large;  // if there is one
    HeatMapPlan small;  // of the first small map, if there is one
    int across, down;   // from one small map to the next
} SectionPlan;

enum { PAGE_SECTIONS = 3 };

typedef struct PagePlan {
    int width, height;
    int large_cell, small_cell;          // of every large map, and of every small one
    SectionPlan section[PAGE_SECTIONS];  // [count]
} PagePlan;

/* Draws the page. Free *canvas with canvas_free, even if it fails. plan (=) the positions of the
 * maps */
bool attentionpage_draw(Canvas **canvas, PagePlan *plan, const AttentionPage *page,
                        Error *error);
