/* canvas.h -- a page of RGB pixels and the few verbs that draw on it.
 *
 * A page is planned before it is painted, because its size follows from the words on it. So a
 * new canvas has no pixels and can only measure text; canvas_reserve gives it pixels in the
 * page's colour. Coordinates are pixels, y downwards, and pixel (0,0) covers [0,1) x [0,1). */
#ifndef PLOTS_CANVAS_H
#define PLOTS_CANVAS_H

#include "base/error.h"

#include <stdint.h>

typedef struct Color {
    uint8_t r, g, b;  // sRGB
} Color;

typedef enum { THEME_LIGHT, THEME_DARK } Theme;

enum { PALETTE_SERIES = 6 };

typedef struct Palette {
    Color page;                    // the paper
    Color ink;                     // titles, labels
    Color muted;                   // captions, </s>, ticks
    Color rule;                    // grid lines, frames
    Color neutral;                 // a cell that has no value by construction
    Color invalid;                 // a cell that is not a number
    Color series[PALETTE_SERIES];  // curves, told apart without red against green
} Palette;

const Palette *theme_palette(Theme theme);

/* The largest picture: beyond it cairo's and most viewers' limits are near (32,767 pixels a
 * side), and 100 million pixels are 400 MB while one is drawn. */
enum { CANVAS_MAX_SIDE = 16000, CANVAS_MAX_PIXELS = 100000000 };

typedef enum { ALIGN_START, ALIGN_CENTRE, ALIGN_END } Align;

typedef struct TextStyle {
    double size;  // of the em, in pixels
    bool bold;
    Color color;
    Align across;  // which point of the line is at x: its left end, its middle, its right end
    Align down;    // which point is at y: the line's top, the middle of a digit, its bottom
    double angle;  // degrees, counterclockwise about (x,y)
    double max_width;  // longer text ends in an ellipsis; 0: any width
} TextStyle;

typedef struct TextSize {
    double width, height;  // before rotation
} TextSize;

typedef struct Canvas Canvas;

/* A canvas without pixels, for measuring; fails when no font is installed. */
bool canvas_new(Canvas **canvas, Theme theme, Error *error);

/* How many pixels of the picture a pixel of the coordinates is: 1 unless set, before
 * canvas_reserve; then everything is drawn so many times as large. */
void canvas_set_scale(Canvas *canvas, int scale);

/* Whether a picture may be so large. */
bool canvas_fits(const Canvas *canvas, int width, int height);

/* width x height pixels in the page's colour; what was drawn before is gone. */
bool canvas_reserve(Canvas *canvas, int width, int height, Error *error);

void canvas_free(Canvas *canvas);

/* False if anything failed while drawing (memory ran out). */
bool canvas_check(const Canvas *canvas, Error *error);

Theme canvas_theme(const Canvas *canvas);
/* Of the picture: with the scale. */
int canvas_width(const Canvas *canvas);
int canvas_height(const Canvas *canvas);
Color canvas_pixel(const Canvas *canvas, int x, int y);
void canvas_row(const Canvas *canvas, int y, uint8_t *rgb);  // rgb [width,3] (=)

/* All of these clip at the page's edge. */
void canvas_rectangle(Canvas *canvas, double x, double y, double width, double height,
                      Color color);
void canvas_disc(Canvas *canvas, double x, double y, double radius, Color color);
/* A line through count points x [count], y [count], with round joins; of one point, a dot. */
void canvas_polyline(Canvas *canvas, const double *x, const double *y, int count,
                     double thickness, Color color);

/* Bold text in ink, or plain text in the muted colour; max_width 0: any. */
TextStyle canvas_style(const Canvas *canvas, double size, bool bold, double max_width);

/* One line of UTF-8 text in any script. Bytes that are not UTF-8 become U+FFFD, control
 * characters too; a character without a glyph is a box with its number. */
void canvas_text(Canvas *canvas, const char *text, double x, double y, const TextStyle *style);
TextSize canvas_measure(Canvas *canvas, const char *text, const TextStyle *style);

#endif
