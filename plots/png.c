/* png.c -- PNG through libpng (ISO/IEC 15948), with errors that come back.
 *
 * libpng reports an error by calling a function that must not return: ours copies the sentence
 * and jumps back to the setjmp in encode(), which owns nothing but the two structs of libpng. The
 * file is 8-bit RGB(A). Of a page of 24 + 1 maps of 12 x 12 (2453 x 2868 pixels) the Up filter
 * at zlib level 3 makes 737 kB in 54 ms; no filter 795 kB in 51 ms; Up at level 6 650 kB in 92 ms
 * (processor time on a core that does 115 GFLOP/s in sgemm). */
#include "plots/png.h"
#include "plots/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Picture {
    const Canvas *canvas;   // its rows, or
    const uint8_t *pixels;  // [height,width,channels]
    int width, height, channels;
} Picture;

/* ---- encode ---- */

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
    if (fwrite(data, 1, length, png_get_io_ptr(png)) != length) png_error(png, strerror(errno));
}

static void flush_bytes(png_structp png)
{
    (void)png;  // put_file flushes once, at the end
}

/* row [width,channels] is room for one row; chunks [count]. */
static bool encode(FILE *file, const Picture *picture, uint8_t *row, png_text *chunks,
                   int count, Error *error)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, error, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return error_set(error, "not enough memory");
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, file, write_bytes, flush_bytes);
    png_set_compression_level(png, 3);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_IHDR(png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8,
                 picture->channels == 4 ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    if (count > 0) png_set_text(png, info, chunks, count);
    png_write_info(png, info);
    size_t stride = (size_t)picture->width * (size_t)picture->channels;
    for (int y = 0; y < picture->height; y++) {
        if (picture->canvas) canvas_row(picture->canvas, y, row);
        png_write_row(png, picture->canvas ? row : picture->pixels + (size_t)y * stride);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

static bool key_is_valid(const char *key)
{
    size_t length = strlen(key);
    if (length < 1 || length > 79 || key[0] == ' ' || key[length - 1] == ' ') return false;
    for (const char *c = key; *c; c++) {
        if (*c < ' ' || *c > '~') return false;
    }
    return strstr(key, "  ") == NULL;
}

/* Fills chunks [count]; their texts are for free_chunks, also after a failure. */
static bool make_chunks(png_text *chunks, const PngText *texts, int count, Error *error)
{
    for (int i = 0; i < count; i++) {
        if (!key_is_valid(texts[i].key))
            return error_set(error, "'%s' cannot be the name of a remark in a PNG file",
                             texts[i].key);
        char *text = utf8_clean(texts[i].text, 0, true);
        if (!text) return error_set(error, "not enough memory");
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

static bool encode_with_texts(FILE *file, const Picture *picture, const PngText *texts,
                              int count, Error *error)
{
    uint8_t *row = malloc((size_t)picture->width * (size_t)picture->channels);
    png_text *chunks = calloc((size_t)count + 1, sizeof *chunks);
    bool done = row && chunks ? make_chunks(chunks, texts, count, error) &&
                                    encode(file, picture, row, chunks, count, error)
                              : error_set(error, "not enough memory");
    for (int i = 0; chunks && i < count; i++) free(chunks[i].text);
    free(chunks);
    free(row);
    return done;
}

/* ---- the file ---- */

/* Writes all of it to fd, which is closed in any case. */
static bool put_file(int fd, const Picture *picture, const PngText *texts, int count,
                     bool regular, Error *error)
{
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        return error_set(error, "%s", strerror(errno));
    }
    bool done = encode_with_texts(file, picture, texts, count, error);
    if (done && (fflush(file) != 0 || (regular && fsync(fd) != 0)))
        done = error_set(error, "%s", strerror(errno));
    if (fclose(file) != 0 && done) done = error_set(error, "%s", strerror(errno));
    return done;
}

/* A new file in folder; its name is left in name [PATH_MAX]. -1 and errno if there is none. */
static int open_temporary(const char *folder, char *name)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        int length =
            snprintf(name, PATH_MAX, "%s/.picture-%ld-%d.tmp", folder, (long)getpid(), attempt);
        if (length >= PATH_MAX) return errno = ENAMETOOLONG, -1;
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);  // not every file system can; the picture itself is safe already
    close(fd);
}

static bool replace_file(const char *path, const Picture *picture, const PngText *texts,
                         int count, Error *error)
{
    char copy[PATH_MAX], temporary[PATH_MAX];
    if (strlen(path) >= sizeof copy) return error_set(error, "%s", strerror(ENAMETOOLONG));
    const char *folder = dirname(strcpy(copy, path));
    int fd = open_temporary(folder, temporary);
    if (fd < 0) return error_set(error, "%s", strerror(errno));
    bool done = put_file(fd, picture, texts, count, true, error);
    if (done && rename(temporary, path) != 0) done = error_set(error, "%s", strerror(errno));
    if (!done)
        unlink(temporary);
    else
        sync_folder(folder);
    return done;
}

static bool save(const char *path, const Picture *picture, const PngText *texts, int count,
                 Error *error)
{
    struct stat status;
    char target[PATH_MAX];
    bool exists = stat(path, &status) == 0, done;
    if (path[0] == 0) {
        done = error_set(error, "a file needs a name");
    } else if (exists && S_ISDIR(status.st_mode)) {
        done = error_set(error, "it is a folder");
    } else if (exists && !S_ISREG(status.st_mode)) {  // /dev/null, a pipe: nothing to replace
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        done = fd >= 0 ? put_file(fd, picture, texts, count, false, error)
                       : error_set(error, "%s", strerror(errno));
    } else {  // a symbolic link stays one: its target is replaced
        bool resolved = exists && realpath(path, target);
        done = replace_file(resolved ? target : path, picture, texts, count, error);
    }
    return done || error_prefix(error, "cannot write '%.600s'", path);
}

bool png_save_canvas(const char *path, const Canvas *canvas, const PngText *texts, int count,
                     Error *error)
{
    Picture picture = {.canvas = canvas,
                       .width = canvas_width(canvas),
                       .height = canvas_height(canvas),
                       .channels = 3};
    return canvas_check(canvas, error) && save(path, &picture, texts, count, error);
}

bool png_save_pixels(const char *path, const uint8_t *pixels, int width, int height,
                     int channels, const PngText *texts, int count, Error *error)
{
    if (width < 1 || height < 1 || (channels != 3 && channels != 4))
        return error_set(error, "cannot write '%s': a picture of %d x %d pixels of %d channels",
                         path, width, height, channels);
    Picture picture = {
        .pixels = pixels, .width = width, .height = height, .channels = channels};
    return save(path, &picture, texts, count, error);
}
