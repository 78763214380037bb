/* apng.h -- an animated PNG. Who knows no animation sees its first frame.
 *
 *   signature  IHDR  acTL  tEXt…  fcTL IDAT  (fcTL fdAT)…  IEND
 *
 *   chunk   length [4], name [4], data [length], CRC-32 of name and data [4]; big-endian
 *   acTL    number of frames [4], how often they play [4] (0: for ever)
 *   fcTL    sequence [4], width, height, x, y [4 each], delay [2] over [2] seconds,
 *           dispose [1] = 0 leave, blend [1] = 1 over
 *   fdAT    sequence [4], and then what an IDAT has: zlib's bytes of filtered rows
 *
 * A later frame is the smallest
 * rectangle that differs from the frame before, and what does not differ within it is transparent,
 * so that it packs to almost nothing. 8-bit RGBA; rows are filtered "Up" or not at all, whichever
 * is the smaller.
 *
 * PNG 3rd edition (W3C 2025), §11.3.6. libpng does not write these chunks. */
#ifndef PLOTS_APNG_H
#define PLOTS_APNG_H

#include "plots/canvas.h"
#include "plots/png.h"

typedef struct Apng Apng;

/* Begins a file that appears as PATH, whole, at apng_end; by then `frames` must have been added, each
 * of that size. plays: how often; 0: for ever. */
Apng *apng_begin(const char *path, int width, int height, int frames, int plays,
                 const PngText *texts, int count, Error *error);
bool apng_add(Apng *apng, const Canvas *frame, int milliseconds, Error *error);
bool apng_end(Apng *apng, Error *error);  // frees it in any case
void apng_abandon(Apng *apng);            // NULL is fine

#endif
