/* png.h -- saves a canvas as a PNG file, which is replaced as a whole or not at all
 * (base/file.h). */
#pragma once

#include "plots/canvas.h"

/* A text inside the file ("Title", "Model", "Source", ...): tEXt if it is ASCII, else iTXt. */
typedef struct PngText {
    const char *key;   // 1 to 79 printable ASCII characters, no space at either end
    const char *text;  // UTF-8; bad bytes become U+FFFD
} PngText;

/* texts: NULL, or a list that ends with {0}; so everywhere */
bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts,
                     Error *error);

/* ---- an animated PNG ----
 *
 * Viewers without APNG support show the first frame.
 *
 *   signature  IHDR  …  tEXt…  acTL  fcTL IDAT  (fcTL fdAT)…  IEND
 *
 *   acTL    number of frames [4], number of plays [4] (0: endless)
 *   fcTL    sequence [4], width, height, x = y = 0 [4 each], delay [2] over [2] seconds,
 *           dispose [1] = 0 leave, blend [1] = 1 over
 *   fdAT    sequence [4], then the same data as an IDAT: filtered rows, compressed by zlib
 *
 * In each frame after the first, pixels that do not differ from the frame before are transparent,
 * which compresses to almost nothing. 8-bit RGBA, rows without a filter.
 *
 * PNG 3rd edition (W3C 2025), §11.3.6. libpng does not write these chunks. */

/* *frame (=) frame f, for canvas_free, even if this fails. *milliseconds (=) how long it is
 * shown. */
typedef bool ApngFrame(Canvas **frame, int *milliseconds, void *context, int f, Error *error);

/* Saves `frames` canvases of this size, which play endlessly. */
bool apng_save(const char *path, int width, int height, int frames, ApngFrame *draw,
               void *context, const PngText *texts, Error *error);
