/* png.h -- a picture to a PNG file, all of it or nothing (base/file.h). */
#ifndef PLOTS_PNG_H
#define PLOTS_PNG_H

#include "plots/canvas.h"

/* A remark inside the file ("Title", "Model", "Source", ...): tEXt if it is ASCII, iTXt if not. */
typedef struct PngText {
    const char *key;   // 1 to 79 printable ASCII characters, no space at either end
    const char *text;  // UTF-8; bad bytes become U+FFFD
} PngText;

bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts, int count,
                     Error *error);

/* pixels [height,width,channels], 8 bits; channels 3 is RGB, 4 is RGBA (not premultiplied). */
bool png_save_pixels(const char *path, const uint8_t *pixels, int width, int height,
                     int channels, const PngText *texts, int count, Error *error);

#endif
