/* apng.h -- an animated PNG. Viewers without APNG support show the first frame.
 *
 *   signature  IHDR  acTL  tEXt…  fcTL IDAT  (fcTL fdAT)…  IEND
 *
 *   chunk   length [4], name [4], data [length], CRC-32 of name and data [4]; big-endian
 *   acTL    number of frames [4], number of plays [4] (0: endless)
 *   fcTL    sequence [4], width, height, x, y [4 each], delay [2] over [2] seconds,
 *           dispose [1] = 0 leave, blend [1] = 1 over
 *   fdAT    sequence [4], then the same data as an IDAT: filtered rows, compressed by zlib
 *
 * Each frame after the first is the smallest rectangle that differs from the frame before.
 * Pixels in it that do not differ are transparent, which compresses to almost nothing. 8-bit
 * RGBA; the rows of a frame have the filter "Up" or none, whichever is smaller.
 *
 * PNG 3rd edition (W3C 2025), §11.3.6. libpng does not write these chunks. */
#pragma once

#include "plots/canvas.h"
#include "plots/png.h"

typedef struct Apng Apng;

/* Begins a file that plays endlessly. Add exactly `frames` canvases of this size with apng_add;
 * apng_end then replaces `path` as a whole. NULL on error. */
Apng *apng_begin(const char *path, int width, int height, int frames, const PngText *texts,
                 int count, Error *error);
bool apng_add(Apng *apng, const Canvas *frame, int milliseconds, Error *error);
bool apng_end(Apng *apng, Error *error);  // frees it, on failure too
void apng_abandon(Apng *apng);            // frees it; the old file stays. May be NULL
