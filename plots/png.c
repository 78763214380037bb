/* png.c -- PNG through libpng (ISO/IEC 15948), with errors that come back.
 *
 * libpng reports an error by calling a function that must not return. Ours copies the message
 * and jumps back to the setjmp in encode(), which owns nothing but libpng's two structs. The
 * file is 8-bit RGB. For a page of 24 + 1 maps of 12 x 12 (2453 x 2868 pixels) the Up filter at
 * zlib level 3 makes 737 kB in 54 ms; no filter 795 kB in 51 ms; Up at level 6 650 kB in 92 ms
 * (processor time on a core that does 115 GFLOP/s in sgemm). */
#include "plots/png.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"

enum { PIXELS_A_METRE = 3780 };  // 96 an inch

static void png_failed(png_structp png, png_const_charp sentence)
{
    error_set(png_get_error_ptr(png), "%s", sentence);
    png_longjmp(png, 1);
}

static void png_warned(png_structp png, png_const_charp sentence)
{
    (void)png, (void)sentence;
}

static void write_bytes(png_structp png, png_bytep data, size_t length)
{
    if (!file_write(png_get_io_ptr(png), data, length, png_get_error_ptr(png)))
        png_longjmp(png, 1);
}

static void flush_bytes(png_structp png)
{
    (void)png;  // write_bytes has no buffer
}

/* row [width,3] scratch   chunks [count] */
static bool encode(AtomicFile *file, const Canvas *canvas, uint8_t *row, png_text *chunks,
                   int count, Error *error)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, error, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return error_memory(error, "for a picture");
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_uint_32 density = (png_uint_32)(PIXELS_A_METRE * canvas->scale);
    png_set_write_fn(png, file, write_bytes, flush_bytes);
    png_set_compression_level(png, 3);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_IHDR(png, info, (png_uint_32)canvas->width, (png_uint_32)canvas->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_pHYs(png, info, density, density, PNG_RESOLUTION_METER);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (count > 0) png_set_text(png, info, chunks, count);
    png_write_info(png, info);
    for (int y = 0; y < canvas->height; y++) {
        canvas_row(canvas, y, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

/* Fills chunks [count]. Their texts are for free(), also after a failure. */
static bool make_chunks(png_text *chunks, const PngText *texts, int count, Error *error)
{
    for (int i = 0; i < count; i++) {
        char *text = utf8_clean(texts[i].text, 0, true);
        if (!text) return error_memory(error, "for a picture");
        bool ascii = utf8_is_ascii(text);
        chunks[i] = (png_text){
            .compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE,
            .key = (char *)texts[i].key,
            .text = text,
            .text_length = ascii ? strlen(text) : 0,
            .itxt_length = ascii ? 0 : strlen(text),
        };
    }
    return true;
}

static bool encode_with_texts(AtomicFile *file, const Canvas *canvas, const PngText *texts,
                              int count, Error *error)
{
    uint8_t *row = malloc(3 * (size_t)canvas->width);
    png_text *chunks = calloc((size_t)count + 1, sizeof *chunks);
    bool done = row && chunks ? make_chunks(chunks, texts, count, error) &&
                                    encode(file, canvas, row, chunks, count, error)
                              : error_memory(error, "for a picture");
    for (int i = 0; chunks && i < count; i++) free(chunks[i].text);
    free(chunks);
    free(row);
    return done;
}

bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts, int count,
                     Error *error)
{
    AtomicFile file;
    if (!canvas_check(canvas, error) || !file_begin(&file, path, error)) return false;
    if (encode_with_texts(&file, canvas, texts, count, error)) return file_commit(&file, error);
    if (file.fd >= 0)
        error_prefix(error, "cannot write '%.600s'", path);  // else the error says so already
    file_abandon(&file);
    return false;
}
