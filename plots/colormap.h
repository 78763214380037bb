/* colormap.h -- perceptually uniform colour maps: a number in 0..1 to a colour. */
#pragma once

#include "plots/canvas.h"

enum { COLORMAP_SIZE = 256 };

/* For pictures; for terminals, which are mostly dark. */
typedef enum { THEME_LIGHT, THEME_DARK } Theme;

/* The colour of a value, one of COLORMAP_SIZE, or a grey of the same lightness: 0 is close to the page's
 * colour, 1 far from it. Values outside 0..1 are clamped; NaN has a colour of its own. */
Color colormap_color(Theme theme, float value, bool grey);

/* Black or white, whichever has the higher contrast with the background (WCAG 2.1 contrast
 * ratio). */
Color colormap_contrast(Color background);
