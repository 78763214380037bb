/* Animated PNGs, read by a reader that shares only zlib's inflate with the writer: it computes
 * the CRCs bit by bit, composes the frames and compares them with what was drawn. */
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "plots/png.h"
#include "tests/fixtures/test.h"

static Error error;

enum { WIDTH = 61, HEIGHT = 40, FRAMES = 5 };
static const char path[] = "build/test-apng.png";

static uint32_t get32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* ISO 3309's CRC, as the PNG specification writes it down (annex D), bit by bit. */
static uint32_t crc(const uint8_t *bytes, size_t count)
{
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    }
    return c ^ 0xffffffffu;
}

/* Frame f: a moving square and a dot that stays. Frame 2 is the same as frame 1. */
static Canvas *draw(int f)
{
    Canvas *canvas;
    if (f == 2) f = 1;
    assert_true(canvas_new(&canvas, THEME_LIGHT, &error));
    assert_true(canvas_reserve(canvas, WIDTH, HEIGHT, &error));
    canvas_rectangle(canvas, 3 + 7 * f, 5 + 2 * f, 9, 8, (Color){(uint8_t)(40 * f), 90, 200});
    canvas_disc(canvas, 50, 30, 4, (Color){200, 30, 60});
    return canvas;
}

typedef struct Reader {
    uint8_t picture[HEIGHT][WIDTH][4];
    uint8_t frame[FRAMES][HEIGHT][WIDTH][3];
    int frames, delay[FRAMES];
    uint32_t sequence;
    int x, y, width, height;  // of the frame that is coming
    char order[256];          // the first letters of the chunks
    size_t pixels;            // of all frames' rectangles
} Reader;

static void paint(Reader *r, const uint8_t *data, size_t length)
{
    static uint8_t rows[HEIGHT * (WIDTH * 4 + 1)];
    uLongf size = sizeof rows;
    size_t row = (size_t)r->width * 4 + 1;
    assert_int_equal(uncompress(rows, &size, data, length), Z_OK);
    assert_int_equal(size, row * (size_t)r->height);
    for (int y = 0; y < r->height; y++) {
        const uint8_t *here = rows + (size_t)y * row + 1;
        assert_int_equal(here[-1], 0);
        for (int x = 0; x < r->width; x++) {
            const uint8_t *p = here + 4 * x;
            assert_true(p[3] == 0 || p[3] == 255);
            if (p[3]) memcpy(r->picture[r->y + y][r->x + x], p, 4);
        }
    }
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) memcpy(r->frame[r->frames][y][x], r->picture[y][x], 3);
    r->pixels += (size_t)r->width * (size_t)r->height;
    r->frames++;
}

static void control(Reader *r, const uint8_t *data)
{
    assert_int_equal(get32(data), r->sequence++);
    r->width = (int)get32(data + 4), r->height = (int)get32(data + 8);
    r->x = (int)get32(data + 12), r->y = (int)get32(data + 16);
    assert_in_range(r->width, 1, WIDTH - r->x);
    assert_in_range(r->height, 1, HEIGHT - r->y);
    assert_int_equal(data[22] << 8 | data[23], 1000);
    r->delay[r->frames] = data[20] << 8 | data[21];
    assert_int_equal(data[24], 0);
    assert_int_equal(data[25], 1);
}

/* What the chunks that are the same in each file must hold. */
static const struct {
    const char *name, *data;
    size_t length;
} CHUNKS[] = {{"IHDR", "\0\0\0\x3d\0\0\0\x28\x08\x06\0\0", 13},  // WIDTH, HEIGHT
              {"acTL", "\0\0\0\x05\0\0\0\0", 8},                 // FRAMES, endless
              {"sRGB", "\0", 1},
              {"pHYs", "\0\0\x0e\xc4\0\0\x0e\xc4\1", 9},
              {"tEXt", "Title\0four", 10},
              {"iTXt", "Note\0\0\0\0\0\xc5\x93uf", 13},
              {"IEND", "", 0}};

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
    size_t k = 0;
    while (k < 7 && strcmp(name, CHUNKS[k].name)) k++;
    assert_in_range(k, 0, 6);
    assert_int_equal(length, CHUNKS[k].length);
    assert_memory_equal(data, CHUNKS[k].data, length);
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
        assert_int_equal(get32(bytes + at + 8 + length), crc(bytes + at + 4, length + 4));
        chunk(r, name, bytes + at + 8, length);
        at += length + 12;
    }
    free(bytes);
}

static void is_frame(const Reader *r, int place, int f)
{
    Canvas *canvas = draw(f);
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t row[WIDTH][3];
        canvas_row(canvas, y, row[0]);
        assert_memory_equal(r->frame[place][y], row, sizeof row);
    }
    canvas_free(canvas);
}

static Apng *begin(int frames)
{
    const PngText texts[] = {{"Title", "four"}, {"Note", "\xc5\x93uf"}};
    Apng *apng = apng_begin(path, WIDTH, HEIGHT, frames, texts, 2, &error);
    assert_non_null(apng);
    return apng;
}

static void add(Apng *apng, int f)
{
    Canvas *canvas = draw(f);
    assert_true(apng_add(apng, canvas, 100 + 900 * f, &error));
    canvas_free(canvas);
}

TEST(frames_come_back)
{
    static Reader r;
    Apng *apng = begin(FRAMES);
    for (int f = 0; f < FRAMES; f++) add(apng, f);
    assert_true(apng_end(apng, &error));
    read_again(&r);
    assert_string_equal(r.order, "IHDR sRGB pHYs tEXt iTXt acTL fcTL IDAT fcTL fdAT fcTL fdAT "
                                 "fcTL fdAT fcTL fdAT IEND ");
    assert_int_equal(r.frames, FRAMES);
    for (int f = 0; f < FRAMES; f++) {
        is_frame(&r, f, f);
        assert_int_equal(r.delay[f], 100 + 900 * f);
    }
    /* The first frame is whole, the others only what changed; of no change, one pixel. */
    assert_true(r.pixels < WIDTH * HEIGHT + 1 + 3 * 24 * 16);
    unlink(path);
}

/* The old file is kept until apng_end, and after apng_abandon. */
TEST(all_or_nothing)
{
    size_t size;
    unlink(path);
    Apng *apng = begin(2);
    add(apng, 0);
    assert_int_not_equal(access(path, F_OK), 0);
    add(apng, 1);
    assert_true(apng_end(apng, &error));
    char *before = file_read(path, 1 << 20, &size, &error);
    apng = begin(7);
    add(apng, 3);
    apng_abandon(apng);
    char *after = file_read(path, 1 << 20, &size, &error);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    unlink(path);
    apng_abandon(NULL);
    assert_null(apng_begin("build/no/such/folder.png", 9, 9, 1, NULL, 0, &error));
    assert_non_null(strstr(error.text, "build/no/such/folder.png"));
}

TEST_MAIN("apng", NULL, NULL)
