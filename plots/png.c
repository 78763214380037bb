/* png.c -- PNG through libpng, with errors that come back; see png.h.
 *
 * libpng reports an error by calling a function that must not return. Ours copies the message
 * and jumps back to the last setjmp, in a function that owns nothing. For a page of 24 + 1 maps of 12 x 12 (2453 x 2868 pixels) the Up filter at
 * zlib level 3 makes 737 kB in 54 ms; no filter 795 kB in 51 ms; Up at level 6 650 kB in 92 ms
 * (processor time on a core that does 115 GFLOP/s in sgemm). */
#include "plots/png.h"

#include <assert.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/utf8.h"

enum { PIXELS_A_METRE = 3780 };  // 96 an inch

typedef struct PngFile {
    AtomicFile file;
    png_structp png;
    png_infop info;
} PngFile;

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

/* ---- the head ---- */

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

/* Writes all that comes before the pixels. */
static bool put_head(PngFile *out, int width, int height, int type, const png_text *chunks,
                     int count, Error *error)
{
    png_structp png = out->png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, error, png_failed, png_warned);
    png_infop info = out->info = png ? png_create_info_struct(png) : NULL;
    if (!info) return error_memory(error, "for a picture");
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_write_fn(png, &out->file, write_bytes, flush_bytes);
    png_set_compression_level(png, 3);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_pHYs(png, info, PIXELS_A_METRE, PIXELS_A_METRE, PNG_RESOLUTION_METER);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (count > 0) png_set_text(png, info, chunks, count);
    png_write_info(png, info);
    return true;
}

/* Replaces the file if all went well; else the old one stays. */
static bool close_file(PngFile *out, const char *path, bool good, Error *error)
{
    png_destroy_write_struct(&out->png, &out->info);
    if (good) return file_commit(&out->file, error);
    if (out->file.fd >= 0)
        error_prefix(error, "cannot write '%.600s'", path);  // else the error says so already
    file_abandon(&out->file);
    return false;
}

/* Begins a file. If it fails, there is nothing to close. */
static bool open_file(PngFile *out, const char *path, int width, int height, int type,
                      const PngText *texts, int count, Error *error)
{
    *out = (PngFile){.png = NULL};
    if (!file_begin(&out->file, path, error)) return false;
    png_text *chunks = calloc((size_t)count + 1, sizeof *chunks);
    bool good = (chunks || error_memory(error, "for a picture")) &&
                make_chunks(chunks, texts, count, error) &&
                put_head(out, width, height, type, chunks, count, error);
    for (int i = 0; chunks && i < count; i++) free(chunks[i].text);
    free(chunks);
    return good || close_file(out, path, false, error);
}

/* ---- a canvas ---- */

/* row [width,3] scratch */
static bool put_canvas(PngFile *out, const Canvas *canvas, uint8_t *row, Error *error)
{
    if (!row) return error_memory(error, "for a picture");
    if (setjmp(png_jmpbuf(out->png))) return false;
    for (int y = 0; y < canvas->height; y++) {
        canvas_row(canvas, y, row);
        png_write_row(out->png, row);
    }
    png_write_end(out->png, out->info);
    return true;
}

bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts, int count,
                     Error *error)
{
    PngFile out;
    if (!canvas_check(canvas, error) || !open_file(&out, path, canvas->width, canvas->height,
                                                   PNG_COLOR_TYPE_RGB, texts, count, error))
        return false;
    uint8_t *row = malloc(3 * (size_t)canvas->width);
    bool good = put_canvas(&out, canvas, row, error);
    free(row);
    return close_file(&out, path, good, error);
}

/* ---- an animation ---- */

enum { LEVEL = 9, CHANNELS = 4 };

struct Apng {
    PngFile out;
    char *path;
    int width, height, frames, added;
    uint32_t sequence;
    uint8_t *memory;        // holds all of the following
    uint8_t *before, *now;  // [height,width,4]
    uint8_t *rows;          // [height,1+4·width] of a frame's area
    uint8_t *packed;        // [packed_size], the first 4 bytes free for fdAT's sequence
    size_t packed_size;
};

typedef struct Area {
    int x, y, width, height;
} Area;

static uint8_t *pixel(const Apng *apng, uint8_t *pixels, int x, int y)
{
    return pixels + ((size_t)y * (size_t)apng->width + (size_t)x) * CHANNELS;
}

static void read_canvas(Apng *apng, const Canvas *canvas)
{
    uint8_t *rgb = apng->rows;  // scratch
    for (int y = 0; y < apng->height; y++) {
        uint8_t *out = pixel(apng, apng->now, 0, y);
        canvas_row(canvas, y, rgb);
        for (int x = 0; x < apng->width; x++, out += CHANNELS) {
            memcpy(out, rgb + 3 * x, 3);
            out[3] = 255;
        }
    }
}

/* The smallest rectangle with all pixels that differ from the frame before; one pixel if none
 * does. */
static Area difference(const Apng *apng)
{
    int left = apng->width, right = -1, top = apng->height, bottom = -1;
    for (int y = 0; y < apng->height; y++) {
        const uint8_t *a = pixel(apng, apng->before, 0, y), *b = pixel(apng, apng->now, 0, y);
        int first = 0, last = apng->width - 1;
        if (!memcmp(a, b, (size_t)apng->width * CHANNELS)) continue;
        while (!memcmp(a + first * CHANNELS, b + first * CHANNELS, CHANNELS)) first++;
        while (!memcmp(a + last * CHANNELS, b + last * CHANNELS, CHANNELS)) last--;
        if (first < left) left = first;
        if (last > right) right = last;
        if (y < top) top = y;
        bottom = y;
    }
    if (right < 0) return (Area){0, 0, 1, 1};
    return (Area){left, top, right - left + 1, bottom - top + 1};
}

/* packed + 4 (=) the area's rows, each behind a 0 (no filter), compressed to *length bytes. Unless
 * all, the pixels equal in `before` are transparent. */
static bool cut_out(Apng *apng, size_t *length, Area area, bool all, Error *error)
{
    uint8_t *out = apng->rows;
    for (int y = area.y; y < area.y + area.height; y++) {
        *out++ = 0;
        for (int x = area.x; x < area.x + area.width; x++, out += CHANNELS) {
            const uint8_t *now = pixel(apng, apng->now, x, y);
            bool same = !all && !memcmp(now, pixel(apng, apng->before, x, y), CHANNELS);
            if (same) memset(out, 0, CHANNELS);
            else memcpy(out, now, CHANNELS);
        }
    }
    *length = apng->packed_size - 4;
    return compress2(apng->packed + 4, length, apng->rows, (uLong)(out - apng->rows), LEVEL) ==
               Z_OK ||
           error_memory(error, "for a picture");
}

static bool allocate(Apng *apng, const char *path, Error *error)
{
    size_t pixels = (size_t)apng->width * (size_t)apng->height * CHANNELS;
    size_t rows = pixels + (size_t)apng->height;
    apng->path = strdup(path);
    apng->packed_size = compressBound(rows) + 4;
    apng->before = apng->memory = malloc(2 * pixels + rows + apng->packed_size);
    if (!apng->memory || !apng->path)
        return error_memory(error, "for a picture of %d x %d", apng->width, apng->height);
    apng->now = apng->before + pixels;
    apng->rows = apng->now + pixels;
    apng->packed = apng->rows + rows;
    return true;
}

static Apng *release(Apng *apng)
{
    free(apng->path);
    free(apng->memory);
    free(apng);
    return NULL;
}

/* Chunks that libpng does not know. */
static bool put_chunk(Apng *apng, const char *name, const uint8_t *data, size_t length,
                      Error *error)
{
    png_set_error_fn(apng->out.png, error, png_failed, png_warned);
    if (setjmp(png_jmpbuf(apng->out.png))) return false;
    png_write_chunk(apng->out.png, (png_const_bytep)name, data, length);
    return true;
}

Apng *apng_begin(const char *path, int width, int height, int frames, const PngText *texts,
                 int count, Error *error)
{
    Apng *apng = calloc(1, sizeof *apng);
    if (!apng) return error_memory(error, "for a picture"), NULL;
    apng->width = width, apng->height = height, apng->frames = frames;
    if (!allocate(apng, path, error) ||
        !open_file(&apng->out, path, width, height, PNG_COLOR_TYPE_RGB_ALPHA, texts, count,
                   error))
        return release(apng);
    uint8_t control[8] = {0};  // plays endlessly
    png_save_uint_32(control, (uint32_t)frames);
    if (put_chunk(apng, "acTL", control, sizeof control, error)) return apng;
    close_file(&apng->out, path, false, error);
    return release(apng);
}

static bool put_control(Apng *apng, Area area, int milliseconds, Error *error)
{
    uint8_t control[26] = {0};
    const int numbers[] = {(int)apng->sequence++, area.width, area.height, area.x, area.y};
    for (int i = 0; i < 5; i++) png_save_uint_32(control + 4 * i, (uint32_t)numbers[i]);
    png_save_uint_16(control + 20, (unsigned)milliseconds);
    png_save_uint_16(control + 22, 1000);
    control[25] = 1;  // over
    return put_chunk(apng, "fcTL", control, sizeof control, error);
}

bool apng_add(Apng *apng, const Canvas *frame, int milliseconds, Error *error)
{
    assert(frame->width == apng->width && frame->height == apng->height);
    bool first = apng->added++ == 0;
    size_t length;
    read_canvas(apng, frame);
    Area area = first ? (Area){0, 0, apng->width, apng->height} : difference(apng);
    if (!put_control(apng, area, milliseconds, error) ||
        !cut_out(apng, &length, area, first, error))
        return false;
    uint8_t *before = apng->before;
    apng->before = apng->now;
    apng->now = before;
    if (first) return put_chunk(apng, "IDAT", apng->packed + 4, length, error);
    png_save_uint_32(apng->packed, apng->sequence++);
    return put_chunk(apng, "fdAT", apng->packed, length + 4, error);
}

bool apng_end(Apng *apng, Error *error)
{
    assert(apng->added == apng->frames);
    bool good = put_chunk(apng, "IEND", NULL, 0, error);
    good = close_file(&apng->out, apng->path, good, error);
    release(apng);
    return good;
}

void apng_abandon(Apng *apng)
{
    if (!apng) return;
    close_file(&apng->out, apng->path, false, NULL);
    release(apng);
}
