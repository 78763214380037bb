/* png.h -- saves a canvas as a PNG file, which is replaced as a whole or not at all
 * (base/file.h). */
#pragma once

#include "plots/canvas.h"

/* A text inside the file ("Title", "Model", "Source", ...): tEXt if it is ASCII, else iTXt. */
typedef struct PngText {
    const char *key;   // 1 to 79 printable ASCII characters, no space at either end
    const char *text;  // UTF-8; bad bytes become U+FFFD
} PngText;

bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts, int count,
                     Error *error);
