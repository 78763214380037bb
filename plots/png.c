/* png.c -- PNG through libpng, with errors that come back; see png.h.
 *
 * libpng reports an error by calling a function that must not return. Ours copies the message
 * and jumps back to the last setjmp, in a function that owns nothing itself. The file is made in memory
 * first. For a page of 24 + 1 maps of 12 x 12 (2453 x 2868 pixels) the Up filter at
 * zlib level 3 makes 737 kB in 54 ms; no filter 795 kB in 51 ms; Up at level 6 650 kB in 92 ms
 * (processor time on a core that does 115 GFLOP/s in sgemm). */
#include "plots/png.h"

#include <png.h>
#include <zlib.h>

#include "base/file.h"
#include "base/textstream.h"
#include "base/utf8.h"

enum { PIXELS_A_METRE = 3780 };  // 96 an inch

typedef struct PngFile {
    TextStream bytes;
    png_structp png;
    png_infop info;
    char *text;    // of a chunk
    uint8_t *row;  // [width,3] scratch
} PngFile;

static void png_failed(png_structp png, png_const_charp sentence)
{
    error_set(png_get_error_ptr(png), "cannot draw a picture: %s", sentence);
    png_longjmp(png, 1);
}

static void png_warned(png_structp png, png_const_charp sentence)
{
    (void)png, (void)sentence;
}

/* ---- the head and the end ---- */

/* Begins a file with all that comes before the pixels. end_file in any case. */
static bool begin_file(PngFile *out, int width, int height, int type, const PngText *texts,
                       Error *error)
{
    *out = (PngFile){.row = malloc(3 * (size_t)width)};
    FILE *stream = textstream_open(&out->bytes);
    png_structp png = out->png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, error, png_failed, png_warned);
    png_infop info = out->info = png ? png_create_info_struct(png) : NULL;
    if (!info || !stream || !out->row) return error_memory(error, "for a picture");
    if (setjmp(png_jmpbuf(png))) return false;
    png_init_io(png, stream);
    png_set_compression_level(png, 3);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_pHYs(png, info, PIXELS_A_METRE, PIXELS_A_METRE, PNG_RESOLUTION_METER);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    for (const PngText *text = texts; text && text->key; text++) {
        out->text = utf8_clean(text->text, 0, "\n\t");
        if (!out->text) return error_memory(error, "for a picture");
        png_text chunk = {.compression = utf8_is_ascii(out->text) ? PNG_TEXT_COMPRESSION_NONE
                                                                  : PNG_ITXT_COMPRESSION_NONE,
                          .key = (char *)text->key,
                          .text = out->text};
        png_set_text(png, info, &chunk, 1);
        free(out->text);
        out->text = NULL;
    }
    png_write_info(png, info);
    return true;
}

/* Replaces the file at path by what was written, if all went well. */
static bool end_file(PngFile *out, const char *path, bool good, Error *error)
{
    png_destroy_write_struct(&out->png, &out->info);
    char *bytes = textstream_close(&out->bytes);
    if (good)
        good = bytes ? file_replace(path, bytes, out->bytes.length, error)
                     : error_memory(error, "for a picture");
    free(bytes);
    free(out->text);
    free(out->row);
    return good;
}

/* ---- a canvas ---- */

static bool put_canvas(PngFile *out, const Canvas *canvas)
{
    if (setjmp(png_jmpbuf(out->png))) return false;
    for (int y = 0; y < canvas->height; y++) {
        canvas_row(canvas, y, out->row);
        png_write_row(out->png, out->row);
    }
    png_write_end(out->png, out->info);
    return true;
}

bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts, Error *error)
{
    PngFile out;
    if (!canvas_check(canvas, error)) return false;
    bool good =
        begin_file(&out, canvas->width, canvas->height, PNG_COLOR_TYPE_RGB, texts, error) &&
        put_canvas(&out, canvas);
    return end_file(&out, path, good, error);
}

/* ---- an animation ---- */

enum { LEVEL = 9, CHANNELS = 4 };

typedef struct Apng {
    PngFile out;
    int width, height;
    uint32_t sequence;
    uint8_t *before;  // [height,width,3] the frame before
    uint8_t *rows;    // [height,1+4·width] of a frame
    uint8_t *packed;  // [packed_size], the first 4 bytes free for fdAT's sequence
    size_t packed_size;
} Apng;

/* packed + 4 (=) the frame's rows, each behind a 0 (no filter), compressed to *length bytes. After
 * the first frame, pixels that stay as they are are transparent. */
static bool pack(Apng *apng, size_t *length, const Canvas *frame, bool first, Error *error)
{
    uint8_t *out = apng->rows, *before = apng->before;
    for (int y = 0; y < apng->height; y++) {
        const uint8_t *now = apng->out.row;
        canvas_row(frame, y, apng->out.row);
        *out++ = 0;
        for (int x = 0; x < apng->width; x++, now += 3, before += 3, out += CHANNELS) {
            memset(out, 0, CHANNELS);
            if (!first && !memcmp(now, before, 3)) continue;
            memcpy(out, now, 3);
            memcpy(before, now, 3);
            out[3] = 255;
        }
    }
    *length = apng->packed_size - 4;
    return compress2(apng->packed + 4, length, apng->rows, (uLong)(out - apng->rows), LEVEL) ==
               Z_OK ||
           error_memory(error, "for a picture");
}

/* Chunks that libpng does not know. */
static bool put_chunk(Apng *apng, const char *name, const uint8_t *data, size_t length)
{
    if (setjmp(png_jmpbuf(apng->out.png))) return false;
    png_write_chunk(apng->out.png, (png_const_bytep)name, data, length);
    return true;
}

static bool put_frame(Apng *apng, const Canvas *frame, bool first, int milliseconds,
                      Error *error)
{
    size_t length;
    uint8_t control[26] = {0};
    assert(frame->width == apng->width && frame->height == apng->height);
    png_save_uint_32(control, apng->sequence++);
    png_save_uint_32(control + 4, (uint32_t)apng->width);
    png_save_uint_32(control + 8, (uint32_t)apng->height);
    png_save_uint_16(control + 20, (unsigned)milliseconds);
    png_save_uint_16(control + 22, 1000);
    control[25] = 1;  // over
    if (!put_chunk(apng, "fcTL", control, sizeof control) ||
        !pack(apng, &length, frame, first, error))
        return false;
    if (first) return put_chunk(apng, "IDAT", apng->packed + 4, length);
    png_save_uint_32(apng->packed, apng->sequence++);
    return put_chunk(apng, "fdAT", apng->packed, length + 4);
}

bool apng_save(const char *path, int width, int height, int frames, ApngFrame *draw,
               void *context, const PngText *texts, Error *error)
{
    Apng apng = {.width = width, .height = height};
    size_t before = 3 * (size_t)height * (size_t)width,
           rows = (size_t)height * (1 + CHANNELS * (size_t)width);
    uint8_t control[8] = {0};  // plays endlessly
    apng.packed_size = compressBound(rows) + 4;
    apng.before = malloc(before + rows + apng.packed_size);
    if (!apng.before) return error_memory(error, "for a picture of %d x %d", width, height);
    apng.rows = apng.before + before;
    apng.packed = apng.rows + rows;
    png_save_uint_32(control, (uint32_t)frames);
    bool good = begin_file(&apng.out, width, height, PNG_COLOR_TYPE_RGB_ALPHA, texts, error) &&
                put_chunk(&apng, "acTL", control, sizeof control);
    for (int f = 0; f < frames && good; f++) {
        Canvas *frame;
        int milliseconds;
        good = draw(&frame, &milliseconds, context, f, error) && canvas_check(frame, error) &&
               put_frame(&apng, frame, f == 0, milliseconds, error);
        canvas_free(frame);
    }
    good = good && put_chunk(&apng, "IEND", NULL, 0);
    free(apng.before);
    return end_file(&apng.out, path, good, error);
}
