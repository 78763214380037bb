/* Canvases written to PNG files: libpng reads back what was drawn; and animations, which a reader
 * here composes frame by frame, as libpng reads none. */
#include <zlib.h>

#include "base/file.h"
#include "plots/png.h"
#include "tests/fixtures/pixel.h"
#include "tests/fixtures/png-reader.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

static Error error;

/* A canvas of width x height pixels with a rectangle in it. */
static Canvas *draw(int width, int height)
{
    Canvas *canvas;
    assert_true(canvas_new(&canvas, &error));
    assert_true(canvas_reserve(canvas, width, height, &error));
    canvas_rectangle(canvas, 10, 20, 5, 4, (Color){1, 128, 254});
    return canvas;
}

TEST(test_canvas_comes_back)
{
    Canvas *canvas = draw(60, 40);
    assert_true(png_save_canvas(path, canvas, NULL, &error));
    PngPicture back = read_png(path);
    assert_int_equal(back.width, 60);
    assert_int_equal(back.height, 40);
    assert_int_equal(back.density, 3780);  // 96 an inch
    Color page = palette.page;
    for (int i = 0; i < 60 * 40; i++) {
        int x = i % 60, y = i / 60;
        bool inside = x >= 10 && x < 15 && y >= 20 && y < 24;
        Color want = inside ? (Color){1, 128, 254} : page, own = canvas_pixel(canvas, x, y);
        assert_memory_equal(back.rgb + 3 * i, &want, 3);
        assert_memory_equal(&own, &want, 3);
    }
    free(back.rgb);
    canvas_free(canvas);
}

TEST(test_texts_come_back)
{
    static const PngText texts[] = {{"Model", "toy, 2 layers"},
                                    {"Source", "ein großes Haus 家\nzwei"},
                                    {"Broken", "a\xFF"
                                               "b"},
                                    {"Empty", ""},
                                    {0}};
    Canvas *canvas = draw(2, 1);
    assert_true(png_save_canvas(path, canvas, texts, &error));
    canvas_free(canvas);
    PngPicture back = read_png(path);
    assert_string_equal(back.texts, "tEXt Model: toy, 2 layers\n"
                                    "iTXt Source: ein großes Haus 家\nzwei\n"
                                    "iTXt Broken: a\xEF\xBF\xBD"
                                    "b\n"
                                    "tEXt Empty: \n");
    free(back.rgb);
}

/* ---- animations ---- */

enum { WIDTH = 61, HEIGHT = 40, FRAMES = 5 };

static uint32_t get32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Frame f: a moving square and a dot that stays. Frame 2 is the same as frame 1. */
static Canvas *draw_frame(int f)
{
    Canvas *canvas;
    if (f == 2) f = 1;
    assert_true(canvas_new(&canvas, &error));
    assert_true(canvas_reserve(canvas, WIDTH, HEIGHT, &error));
    canvas_rectangle(canvas, 3 + 7 * f, 5 + 2 * f, 9, 8, (Color){(uint8_t)(40 * f), 90, 200});
    canvas_disc(canvas, 50, 30, 4, (Color){200, 30, 60});
    return canvas;
}

typedef struct Reader {
    uint8_t picture[HEIGHT][WIDTH][3];
    uint8_t frame[FRAMES][HEIGHT][WIDTH][3];
    int frames, delay[FRAMES];
    uint32_t sequence;
    char order[256];  // the names of the chunks
    int pixels;       // of all frames that are not transparent
} Reader;

static void paint(Reader *r, const uint8_t *data, size_t length)
{
    static uint8_t rows[HEIGHT][WIDTH * 4 + 1];
    uLongf size = sizeof rows;
    assert_int_equal(uncompress(rows[0], &size, data, length), Z_OK);
    assert_int_equal(size, sizeof rows);
    for (int y = 0; y < HEIGHT; y++) {
        assert_int_equal(rows[y][0], 0);
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *p = rows[y] + 1 + 4 * x;
            assert_true(p[3] == 0 || p[3] == 255);
            if (p[3]) memcpy(r->picture[y][x], p, 3), r->pixels++;
        }
    }
    memcpy(r->frame[r->frames++], r->picture, sizeof r->picture);
}

static void control(Reader *r, const uint8_t *data)
{
    const uint32_t numbers[] = {r->sequence++, WIDTH, HEIGHT, 0, 0};
    for (int i = 0; i < 5; i++) assert_int_equal(get32(data + 4 * i), numbers[i]);
    assert_int_equal(data[22] << 8 | data[23], 1000);
    r->delay[r->frames] = data[20] << 8 | data[21];
    assert_int_equal(data[24], 0);
    assert_int_equal(data[25], 1);
}

/* What chunks of ours must hold. */
static const struct {
    const char *name, *data;
    size_t length;
} CHUNKS[] = {{"IHDR", "\0\0\0\x3d\0\0\0\x28\x08\x06\0\0", 13},  // WIDTH, HEIGHT
              {"acTL", "\0\0\0\x05\0\0\0\0", 8},                 // FRAMES, endless
              {"tEXt", "Title\0four", 10},
              {"iTXt", "Note\0\0\0\0\0\xc5\x93uf", 13}};

static void chunk(Reader *r, const char *name, const uint8_t *data, size_t length)
{
    size_t used = strlen(r->order);
    snprintf(r->order + used, sizeof r->order - used, "%s ", name);
    if (!strcmp(name, "IDAT")) return paint(r, data, length);
    if (!strcmp(name, "fcTL")) {
        assert_int_equal(length, 26);
        return control(r, data);
    }
    if (!strcmp(name, "fdAT")) {
        assert_int_equal(get32(data), r->sequence++);
        return paint(r, data + 4, length - 4);
    }
    for (size_t k = 0; k < sizeof CHUNKS / sizeof *CHUNKS; k++)
        if (!strcmp(name, CHUNKS[k].name)) {
            assert_int_equal(length, CHUNKS[k].length);
            assert_memory_equal(data, CHUNKS[k].data, length);
        }
}

static void read_again(Reader *r)
{
    size_t size;
    uint8_t *bytes = (uint8_t *)file_read(path, 1 << 20, &size, &error);
    assert_non_null(bytes);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
    for (size_t at = 8; at < size;) {
        char name[5] = "";
        size_t length = get32(bytes + at);
        assert_true(length < size && at + 12 + length <= size);
        memcpy(name, bytes + at + 4, 4);
        chunk(r, name, bytes + at + 8, length);
        at += length + 12;
    }
    free(bytes);
}

static void is_frame(const Reader *r, int place, int f)
{
    Canvas *canvas = draw_frame(f);
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t row[WIDTH][3];
        canvas_row(canvas, y, row[0]);
        assert_memory_equal(r->frame[place][y], row, sizeof row);
    }
    canvas_free(canvas);
}

/* *context: the number of the frame that fails. */
static bool frame(Canvas **canvas, int *milliseconds, void *context, int f, Error *why)
{
    *canvas = draw_frame(f);
    *milliseconds = 100 + 900 * f;
    return f != *(int *)context || error_set(why, "frame %d", f);
}

/* Saves FRAMES of them; the one of this number fails. */
static bool save_film(const char *name, int fails)
{
    const PngText texts[] = {{"Title", "four"}, {"Note", "\xc5\x93uf"}, {0}};
    return apng_save(name, WIDTH, HEIGHT, FRAMES, frame, &fails, texts, &error);
}

TEST(frames_come_back)
{
    static Reader r;
    assert_true(save_film(path, -1));
    read_again(&r);
    assert_string_equal(r.order, "IHDR sRGB pHYs tEXt iTXt acTL fcTL IDAT fcTL fdAT fcTL fdAT "
                                 "fcTL fdAT fcTL fdAT IEND ");
    assert_int_equal(r.frames, FRAMES);
    for (int f = 0; f < FRAMES; f++) {
        is_frame(&r, f, f);
        assert_int_equal(r.delay[f], 100 + 900 * f);
    }
    /* The first frame is whole, the others only what changed. */
    assert_in_range(r.pixels, WIDTH * HEIGHT, WIDTH * HEIGHT + 3 * 2 * 9 * 8);
}

TEST(all_or_nothing)
{
    assert_int_equal(unlink(path), 0);
    assert_false(save_film(path, 3));
    assert_string_equal(error.text, "frame 3");
    assert_int_not_equal(access(path, F_OK), 0);
    assert_false(save_film("build/no/such/folder.png", -1));
    assert_non_null(strstr(error.text, "build/no/such/folder.png"));
}

TEST_MAIN("png", path_make, path_remove)
