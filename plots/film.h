/* film.h -- the attention of one sentence during training: an animation.
 *
 *     title                                                update 400
 *     says: …                                              loss 0.21
 *     ┌──────────────┐   ┌────┐ ┌────┐
 *     │ mean of the  │   │head│ │head│
 *     │ heads        │   └────┘ └────┘
 *     └──────────────┘   ┌────┐ ┌────┐
 *     loss ────╮_____•__________________ update
 *
 * All frames have one size, which fits the labels of all of them. The last frame comes first,
 * since viewers without APNG support show the first one. The film repeats. */
#pragma once

#include "base/options.h"
#include "plots/curves.h"
#include "plots/png.h"

enum { FILM_WORDS = 40 };  // the most rows and columns

typedef struct FilmFrame {
    long long update;
    double loss;      // NaN: untrained
    char *says;       // the translation
    StringList word;  // [rows] the last row and the last column are special tokens
    float *share;     // [heads,rows,columns]
} FilmFrame;

typedef struct Film {
    const char *title;
    const FilmFrame *frame;  // [count], at least 2
    int count, heads, columns;
    char *const *column;     // [columns] labels
    MissingGlyphs *missing;  // (+=) characters that no font has; or NULL
    Series loss[2];          // drawn up to the update of a frame
} Film;

bool film_save(const char *path, const Film *film, const PngText *texts, Error *error);
