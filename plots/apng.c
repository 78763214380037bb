/* apng.c -- an animated PNG; see apng.h. */
#include "plots/apng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/utf8.h"

enum { LEVEL = 9, CHANNELS = 4, FILTER_NONE = 0, FILTER_UP = 2 };

struct Apng {
    AtomicFile file;
    int width, height, frames, added;
    uint32_t sequence;
    uint8_t *memory;          // holds all of the following
    uint8_t *before, *now;    // [height,width,4]
    uint8_t *shown;           // [height,width,4] the pixels of a frame's area
    uint8_t *filtered;        // [height,1+4·width]
    uint8_t *packed, *other;  // [packed_size], the first 4 bytes free for fdAT's sequence
    size_t packed_size;
};

typedef struct Area {
    int x, y, width, height;
} Area;

/* ---- chunks ---- */

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24), at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8), at[3] = (uint8_t)value;
    return at + 4;
}

static bool put_chunk(Apng *apng, const char *name, const void *data, size_t length,
                      Error *error)
{
    uint8_t head[8], tail[4];
    put32(head, (uint32_t)length);
    memcpy(head + 4, name, 4);
    uLong crc = crc32(0, head + 4, 4);
    if (length) crc = crc32(crc, data, (uInt)length);
    put32(tail, (uint32_t)crc);
    return file_write(&apng->file, head, sizeof head, error) &&
           file_write(&apng->file, data, length, error) &&
           file_write(&apng->file, tail, sizeof tail, error);
}

/* tEXt: key 0 text
 * iTXt, for text that is not ASCII: key 0 0 0 0 0 text (uncompressed, no language) */
static bool put_text(Apng *apng, const PngText *text, Error *error)
{
    char *clean = utf8_clean(text->text, 0, true), *data = NULL;
    bool ascii = clean && utf8_is_ascii(clean);
    int size = !clean  ? -1
               : ascii ? asprintf(&data, "%s%c%s", text->key, 0, clean)
                       : asprintf(&data, "%s%c%c%c%c%c%s", text->key, 0, 0, 0, 0, 0, clean);
    free(clean);
    if (size < 0) return error_memory(error, "for a picture");
    bool good = put_chunk(apng, ascii ? "tEXt" : "iTXt", data, (size_t)size, error);
    free(data);
    return good;
}

/* ---- pixels ---- */

static uint8_t *pixel(const Apng *apng, uint8_t *pixels, int x, int y)
{
    return pixels + ((size_t)y * (size_t)apng->width + (size_t)x) * CHANNELS;
}

static void read_canvas(Apng *apng, const Canvas *canvas)
{
    uint8_t *rgb = apng->filtered;  // scratch
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

/* shown [height,width,4] of the area (=) its pixels; unless all, those equal in `before`
 * transparent. */
static void cut_out(Apng *apng, Area area, bool all)
{
    uint8_t *out = apng->shown;
    for (int y = area.y; y < area.y + area.height; y++)
        for (int x = area.x; x < area.x + area.width; x++, out += CHANNELS) {
            const uint8_t *now = pixel(apng, apng->now, x, y);
            bool same = !all && !memcmp(now, pixel(apng, apng->before, x, y), CHANNELS);
            if (same) memset(out, 0, CHANNELS);
            else memcpy(out, now, CHANNELS);
        }
}

/* out + 4 (=) the rows of `shown`, filtered and compressed to *length bytes. */
static bool compress_rows(Apng *apng, uint8_t *out, size_t *length, Area area, uint8_t filter)
{
    size_t row = (size_t)area.width * CHANNELS;
    for (int y = 0; y < area.height; y++) {
        uint8_t *to = apng->filtered + (size_t)y * (row + 1);
        const uint8_t *here = apng->shown + (size_t)y * row;
        const uint8_t *above = y && filter == FILTER_UP ? here - row : NULL;
        *to++ = filter;
        for (size_t i = 0; i < row; i++) to[i] = (uint8_t)(here[i] - (above ? above[i] : 0));
    }
    *length = apng->packed_size - 4;
    return compress2(out + 4, length, apng->filtered, (row + 1) * (size_t)area.height, LEVEL) ==
           Z_OK;
}

/* packed (=) the area of `shown` with the filter that gives fewer bytes. */
static bool pack(Apng *apng, Area area, size_t *length, Error *error)
{
    size_t other;
    if (!compress_rows(apng, apng->packed, length, area, FILTER_UP) ||
        !compress_rows(apng, apng->other, &other, area, FILTER_NONE))
        return error_memory(error, "for a picture");
    if (other >= *length) return true;
    uint8_t *swap = apng->packed;
    apng->packed = apng->other;
    apng->other = swap;
    *length = other;
    return true;
}

/* ---- the file ---- */

static bool allocate(Apng *apng, Error *error)
{
    size_t pixels = (size_t)apng->width * (size_t)apng->height * CHANNELS;
    size_t rows = pixels + (size_t)apng->height;
    apng->packed_size = compressBound(rows) + 4;
    apng->before = apng->memory = malloc(3 * pixels + rows + 2 * apng->packed_size);
    if (!apng->memory)
        return error_memory(error, "for a picture of %d x %d", apng->width, apng->height);
    apng->now = apng->before + pixels;
    apng->shown = apng->now + pixels;
    apng->filtered = apng->shown + pixels;
    apng->packed = apng->filtered + rows;
    apng->other = apng->packed + apng->packed_size;
    return true;
}

static bool put_head(Apng *apng, const PngText *texts, int count, Error *error)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t header[13] = {0}, control[8];
    put32(put32(header, (uint32_t)apng->width), (uint32_t)apng->height);
    header[8] = 8, header[9] = 6;                      // bits; RGBA
    put32(put32(control, (uint32_t)apng->frames), 0);  // plays endlessly
    bool good = file_write(&apng->file, signature, sizeof signature, error) &&
                put_chunk(apng, "IHDR", header, sizeof header, error) &&
                put_chunk(apng, "acTL", control, sizeof control, error);
    for (int i = 0; i < count && good; i++) good = put_text(apng, &texts[i], error);
    return good;
}

static Apng *release(Apng *apng)
{
    free(apng->memory);
    free(apng);
    return NULL;
}

Apng *apng_begin(const char *path, int width, int height, int frames, const PngText *texts,
                 int count, Error *error)
{
    Apng *apng = calloc(1, sizeof *apng);
    if (!apng) return error_memory(error, "for a picture"), NULL;
    apng->width = width, apng->height = height, apng->frames = frames;
    if (!allocate(apng, error) || !file_begin(&apng->file, path, error)) return release(apng);
    if (put_head(apng, texts, count, error)) return apng;
    apng_abandon(apng);
    return NULL;
}

static bool put_control(Apng *apng, Area area, int milliseconds, Error *error)
{
    uint8_t control[26] = {0};
    uint8_t *at = put32(control, apng->sequence++);
    at = put32(put32(at, (uint32_t)area.width), (uint32_t)area.height);
    at = put32(put32(at, (uint32_t)area.x), (uint32_t)area.y);
    at = put32(at, (uint32_t)milliseconds << 16 | 1000);  // delay [2] over [2] seconds
    at[1] = 1;                                            // over
    return put_chunk(apng, "fcTL", control, sizeof control, error);
}

bool apng_add(Apng *apng, const Canvas *frame, int milliseconds, Error *error)
{
    assert(frame->width == apng->width && frame->height == apng->height);
    bool first = apng->added++ == 0;
    size_t length;
    read_canvas(apng, frame);
    Area area = first ? (Area){0, 0, apng->width, apng->height} : difference(apng);
    cut_out(apng, area, first);
    if (!put_control(apng, area, milliseconds, error) || !pack(apng, area, &length, error))
        return false;
    uint8_t *before = apng->before;
    apng->before = apng->now;
    apng->now = before;
    if (first) return put_chunk(apng, "IDAT", apng->packed + 4, length, error);
    put32(apng->packed, apng->sequence++);
    return put_chunk(apng, "fdAT", apng->packed, length + 4, error);
}

bool apng_end(Apng *apng, Error *error)
{
    assert(apng->added == apng->frames);
    bool good = put_chunk(apng, "IEND", NULL, 0, error) && file_commit(&apng->file, error);
    if (!good) file_abandon(&apng->file);
    release(apng);
    return good;
}

void apng_abandon(Apng *apng)
{
    if (!apng) return;
    file_abandon(&apng->file);
    release(apng);
}
