/* canvas.h -- RGB pixels, or an SVG or PDF document, and functions that draw rectangles, lines
 * and text on them.
 *
 * The size of a page depends on the text on it, so a new canvas can only measure text;
 * canvas_reserve gives it a page in the page's colour. Coordinates are in pixels, 96 an inch,
 * y downwards; pixel (0,0) covers [0,1) x [0,1). */
#pragma once

#include "base/error.h"
#include "base/textstream.h"

typedef struct Color {
    uint8_t r, g, b;  // sRGB
} Color;

enum { PALETTE_SERIES = 6 };

typedef struct Palette {
    Color page;                    // the background
    Color ink;                     // titles, labels
    Color muted;                   // captions, </s>, ticks
    Color rule;                    // grid lines, frames
    Color neutral;                 // a masked cell
    Color series[PALETTE_SERIES];  // curves, distinguishable with red-green blindness
} Palette;

extern const Palette palette;

/* The largest picture. cairo and most viewers are limited to 32,767 pixels a side; 100 million
 * pixels take 400 MB while a picture is drawn. */
enum { CANVAS_MAX_SIDE = 16000, CANVAS_MAX_PIXELS = 100000000 };

typedef enum { ALIGN_START, ALIGN_CENTRE, ALIGN_END } Align;

typedef struct TextStyle {
    double size;  // of the em, in pixels
    bool bold, underlined;
    Color color;
    Align across;      // the point at x: the line's left end, middle or right end
    bool middle;       // the point at y: the middle of a digit, else the line's top
    double angle;      // degrees, counterclockwise about (x,y)
    double max_width;  // longer text ends in an ellipsis; 0: any width
    bool wrap;         // longer text goes on in further lines instead
} TextStyle;

/* Characters that were drawn as a box, as no font has them. */
typedef struct MissingGlyphs {
    char characters[64];     // the first, a space after each; … at the end if there are more
    bool cjk, emoji, other;  // which of these there are
} MissingGlyphs;

/* CANVAS_PNG: pixels, for png_save_canvas (plots/png.h) and the functions that read pixels. The
 * others are documents, for canvas_save_document. */
typedef enum { CANVAS_PNG, CANVAS_SVG, CANVAS_PDF, CANVAS_FORMATS } CanvasFormat;

/* Set format and missing before anything is measured; canvas_new sets CANVAS_PNG and NULL. */
typedef struct Canvas {
    CanvasFormat format;
    MissingGlyphs *missing;  // (+=), or NULL
    const char *font;        // a family; NULL: Sans
    int width, height;
    // of canvas.c
    TextStream document;   // SVG or PDF, as far as it is written
    struct _cairo *cairo;  // NULL until canvas_reserve
    struct _cairo *page;   // between canvas_begin_pixels and canvas_end_pixels of a document
    struct _PangoContext *pango;
    bool failed;  // memory ran out while a text was laid out
} Canvas;

/* A canvas without pixels, which can measure text; for canvas_free, even if this fails, as it
 * does if no font is installed. */
bool canvas_new(Canvas **canvas, Error *error);

/* The family of all text that is measured and drawn from now on; NULL: a family without serifs. Fails if
 * it is not installed. */
bool canvas_set_font(Canvas *canvas, const char *family, Error *error);

/* Whether a picture of this size is within the limits above. */
bool canvas_fits(int width, int height);

/* width x height pixels, which fit, in the page's colour, once for a canvas. */
bool canvas_reserve(Canvas *canvas, int width, int height, Error *error);

/* Ends a document and replaces the file at path by it. The title is UTF-8. Two documents of the
 * same drawing are the same bytes. Only canvas_free may follow. */
bool canvas_save_document(const char *path, Canvas *canvas, const char *title, Error *error);

void canvas_free(Canvas *canvas);

/* False if a drawing call failed (not enough memory). These report no errors: call this at the
 * end of what canvas_reserve began. */
bool canvas_check(const Canvas *canvas, Error *error);

/* rgb [width,3] (=) a row of the picture's pixels. */
void canvas_row(const Canvas *canvas, int y, uint8_t *rgb);

/* All drawing functions clip at the page's edge. */
void canvas_rectangle(Canvas *canvas, double x, double y, double width, double height,
                      Color color);
/* What is drawn between them is width x height pixels at (x,y) in a document, too. */
void canvas_begin_pixels(Canvas *canvas, int x, int y, int width, int height);
void canvas_end_pixels(Canvas *canvas);
void canvas_disc(Canvas *canvas, double x, double y, double radius, Color color);
/* Adds a point to a line, which canvas_stroke draws with round joins; one of a single point is
 * not drawn. */
void canvas_line_to(Canvas *canvas, double x, double y);
void canvas_stroke(Canvas *canvas, double thickness, Color color);

/* Bold text in ink, or plain text in the muted colour; max_width 0: any. */
TextStyle canvas_style(double size, bool bold, double max_width);

/* Draws a line of UTF-8 text in any script, or several if style->wrap is set. Invalid bytes and
 * control characters become U+FFFD; a character without a glyph becomes a box with its code
 * point. Returns the height of the text, which is all that it does before canvas_reserve. */
double canvas_text(Canvas *canvas, const char *text, double x, double y, TextStyle style);

/* The width of such a text, before rotation. */
double canvas_measure(Canvas *canvas, const char *text, TextStyle style);
