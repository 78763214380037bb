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

#include "plots/attentionplan.h"

/* Draws the page, scale times as large; *page is for canvas_free. title, subtitle: may be NULL. */
bool attentionpage_draw(Canvas **page, const char *title, const char *subtitle,
                        const HeatMapSection *sections, int count, Theme theme, int scale,
                        Error *error);

/* The same, and says where everything is: plan is for attentionplan_free. */
bool attentionpage_draw_plan(Canvas **page, PagePlan *plan, const char *title,
                             const char *subtitle, const HeatMapSection *sections, int count,
                             Theme theme, int scale, Error *error);

#endif
