/* section.h -- one kind of attention in a picture: the maps that are drawn of it, and the words about
 * them.
 *
 *   look → maps of heads, their means, …  (explain/maps.h) → a section  (plots/attentionpage.h) */
#ifndef EXPLAIN_SECTION_H
#define EXPLAIN_SECTION_H

#include "explain/labels.h"
#include "explain/maps.h"
#include "explain/picture.h"
#include "plots/attentionpage.h"

/* What all sections of a picture share. */
typedef struct Drawing {
    const Snapshot *snapshot;
    const Choice *choice;
    PictureConfig config;
    Labels source, target, read;
    int *head;  // [heads] all of a layer's, or the several that were chosen
    int heads;
    Error *error;
} Drawing;

enum { SECTION_TEXT = 240, SECTION_NOTE = 64 };

/* A section with what its maps point to. */
typedef struct Section {
    AttentionKind kind;
    int first, layers, heads;  // layers and heads of the small maps
    int layer, best_layer, best_head;
    Map large, *small;      // small [layers,heads]
    double entropy, share;  // of the large one, before marks are left out
    HeatMap large_heat, *heat;
    char (*note)[2][SECTION_NOTE];  // [layers,heads] title and note
    char title[96], large_note[64], remark[SECTION_TEXT];
} Section;

/* With look, choice, config and error set: the words of the pair, and the heads. Marks are not to be
 * hidden where nothing else would be left. */
bool drawing_begin(Drawing *drawing, const Vocabulary *vocabulary, const SentencePair *pair);
void drawing_free(Drawing *drawing);

/* best_layer and best_head (=) those of the best map of section->kind: as it is known of the model,
 * else as it is in this pair; of the layer that is chosen or of all. layer (=) that of the best mean. */
bool section_find_best(Section *section, const Drawing *drawing);

/* Its maps; section_free in any case. */
bool section_make(Section *section, const Drawing *drawing, AttentionKind kind);
void section_free(Section *section);

/* When all are made: the words without marks, if these are hidden; and what is drawn of a section,
 * which points into it and into the drawing. */
void drawing_hide(Drawing *drawing);
void section_finish(HeatMapSection *page, Section *section, const Drawing *drawing);

/* "head 2", "mean of 4 heads", …: of the large map. */
const char *section_head(char text[SECTION_NOTE], const Section *section,
                         const Drawing *drawing);

#endif
