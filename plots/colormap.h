/* colormap.h -- perceptually uniform colour maps: a number in 0..1 to a colour. */
#pragma once

#include "plots/canvas.h"

enum { COLORMAP_SIZE = 256, COLORMAP_KNOTS = 33 };

typedef struct Colormap {
    Color color[COLORMAP_SIZE];  // color[i] stands for i / 255
    Color grey[COLORMAP_SIZE];   // grey of the same lightness
    Color invalid;               // for NaN
} Colormap;

/* For pictures; for terminals, which are mostly dark. */
typedef enum { THEME_LIGHT, THEME_DARK } Theme;

/* 0xRRGGBB of a theme, evenly spaced. */
extern const uint32_t colormap_knots[2][COLORMAP_KNOTS];

/* The map of a theme: 0 is close to the page's colour, 1 far from it. */
Colormap colormap_make(Theme theme);

/* Values outside 0..1 are clamped. */
Color colormap_color(const Colormap *map, float value, bool grey);

/* Black or white, whichever has the higher contrast with the background (WCAG 2.1 contrast
 * ratio). */
Color colormap_contrast(Color background);
