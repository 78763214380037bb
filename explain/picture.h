/* picture.h -- the attention of one translation as a PNG, SVG or PDF: for each kind of attention
 * that was chosen a large map, and a small one for every layer and head. */
#pragma once

#include "data/vocabulary.h"
#include "explain/choice.h"

#include "plots/attentionpage.h"
#include "plots/png.h"

/* What a picture or a page (explain/page.h) shows. */
typedef struct PictureInput {
    const Snapshot *snapshot;
    const Snapshot *gradients;  // after transformer_backward, for pages; or NULL
    const Vocabulary *vocabulary;
    const char *model_name;  // for the file's text chunks
    const Choice *choice;
    bool words;              // join subwords: their columns are added, their rows averaged
    bool given;              // the translation was given by the user, not made by the model
    MissingGlyphs *missing;  // (+=) characters that no font has; or NULL
} PictureInput;

/* Which format the ending of a file's name means: a CanvasFormat, or PICTURE_HTML, which is a
 * page (explain/page.h). -1 on error: the error lists the known endings. */
enum { PICTURE_HTML = CANVAS_FORMATS };
int picture_format(const char *path, Error *error);

/* Draws a page in the format of the path. A PNG has the texts in it. */
bool picture_page(const char *path, AttentionPage page, const PngText *texts, Error *error);

/* Draws a picture in the format of the path; if that is NULL, prints the large maps to out as
 * text (plots/blocks.h). An SVG or PDF takes about 1 KB of memory for each cell while it is drawn:
 * more than PICTURE_CELLS are an error. */
enum { PICTURE_CELLS = 500000 };
bool picture_save(const char *path, FILE *out, const PictureInput *input, Error *error);

/* The best head of a kind, of the chosen layer or of all: of cross-attention the one that aligns
 * words best, of self-attention the one with the lowest entropy. */
typedef struct PictureBest {
    int layer, head;
    bool aligns;  // its map is like an alignment
    int shown;    // the layer of the large map, if none is chosen
} PictureBest;

bool picture_best(PictureBest *best, const PictureInput *input, AttentionKind kind,
                  Error *error);

/* The weight of the last colour of a picture of this kind, if no option is given. */
float picture_high(const PictureInput *input, AttentionKind kind);
