/* Canvases written to PNG files: libpng reads back what was drawn, and a failure leaves nothing
 * behind; and animations, which a reader here composes frame by frame, as libpng reads none. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "plots/png.h"
#include "tests/fixtures/pixel.h"
#include "tests/fixtures/png-reader.h"
#include "tests/fixtures/temporary.h"
#include "tests/fixtures/test.h"

static Error error;
static char folder[TEMPORARY_SIZE];

FIXTURE(make_folder)
{
    return temporary_folder(folder, NULL) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Removes what is in the folder and says how many files there were. */
static int empty_folder(void)
{
    int files = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        files++;
        assert_int_equal(remove(in_folder(entry->d_name)), 0);
    }
    closedir(list);
    return files;
}

FIXTURE(remove_folder)
{
    empty_folder();
    return rmdir(folder);
}

/* A canvas of width x height pixels with a rectangle in it. */
static Canvas *draw(int width, int height)
{
    Canvas *canvas;
    assert_true(canvas_new(&canvas, &error));
    assert_true(canvas_reserve(canvas, width, height, &error));
    canvas_rectangle(canvas, 10, 20, 5, 4, (Color){1, 128, 254});
    return canvas;
}

/* Saves a canvas 2 pixels wide. */
static bool save(const char *path, const PngText *texts, int count)
{
    Canvas *canvas = draw(2, 1);
    bool good = png_save_canvas(path, canvas, texts, count, &error);
    canvas_free(canvas);
    return good;
}

TEST(test_canvas_comes_back)
{
    Canvas *canvas = draw(60, 40);
    assert_true(png_save_canvas(in_folder("canvas.png"), canvas, NULL, 0, &error));
    PngPicture back = read_png(in_folder("canvas.png"));
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
    assert_int_equal(empty_folder(), 1);
}

TEST(test_texts_come_back)
{
    static const PngText texts[] = {{"Model", "toy, 2 layers"},
                                    {"Source", "ein großes Haus 家\nzwei"},
                                    {"Broken", "a\xFF"
                                               "b"},
                                    {"Empty", ""}};
    assert_true(save(in_folder("text.png"), texts, 4));
    PngPicture back = read_png(in_folder("text.png"));
    assert_string_equal(back.texts, "tEXt Model: toy, 2 layers\n"
                                    "iTXt Source: ein großes Haus 家\nzwei\n"
                                    "iTXt Broken: a\xEF\xBF\xBD"
                                    "b\n"
                                    "tEXt Empty: \n");
    free(back.rgb);
    assert_int_equal(empty_folder(), 1);
}

static void expect_failure(const char *path, const char *why)
{
    assert_false(save(path, NULL, 0));
    if (!strstr(error.text, why)) fail_msg("'%s' does not say '%s'", error.text, why);
    assert_true(strstr(error.text, "cannot write '") || strstr(error.text, "cannot open '"));
}

TEST(test_failures_leave_nothing)
{
    expect_failure(in_folder("no/such/folder.png"), "No such file");
    expect_failure(folder, "Is a directory");
    char path[400] = "";
    memset(path, 'x', sizeof path - 1);
    expect_failure(path, "name too long");
    if (geteuid() != 0) {  // the superuser may write anywhere
        assert_int_equal(chmod(folder, 0500), 0);
        expect_failure(in_folder("a.png"), "Permission denied");
        assert_int_equal(chmod(folder, 0700), 0);
    }
    assert_int_equal(empty_folder(), 0);
}

/* A file larger than allowed is an error that comes back through libpng. */
TEST(test_failure_keeps_the_old_file)
{
    struct rlimit before, small;
    char kept[8] = "";
    FILE *old = fopen(in_folder("old.png"), "w+b");
    assert_non_null(old);
    fputs("old", old);
    fflush(old);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = before, small.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_failure(in_folder("old.png"), "File too large");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    rewind(old);
    assert_non_null(fgets(kept, sizeof kept, old));
    fclose(old);
    assert_string_equal(kept, "old");
    assert_int_equal(empty_folder(), 1);
}

TEST(test_full_device)
{
    if (access("/dev/full", W_OK) != 0) skip();
    expect_failure("/dev/full", "No space left");
    struct stat status;
    assert_int_equal(stat("/dev/full", &status), 0);
    assert_true(S_ISCHR(status.st_mode));  // not replaced by a picture
}

TEST(test_link_stays_a_link)
{
    char target[512];
    strcpy(target, in_folder("target.png"));
    assert_int_equal(symlink("target.png", in_folder("link.png")), 0);
    fclose(fopen(target, "w"));
    assert_true(save(in_folder("link.png"), NULL, 0));
    struct stat status;
    assert_int_equal(lstat(in_folder("link.png"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    PngPicture back = read_png(target);
    assert_int_equal(back.width, 2);
    free(back.rgb);
    assert_int_equal(empty_folder(), 2);
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
    uint8_t *bytes = (uint8_t *)file_read(in_folder("film.png"), 1 << 20, &size, &error);
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

static Apng *begin(int frames)
{
    const PngText texts[] = {{"Title", "four"}, {"Note", "\xc5\x93uf"}};
    Apng *apng = apng_begin(in_folder("film.png"), WIDTH, HEIGHT, frames, texts, 2, &error);
    assert_non_null(apng);
    return apng;
}

static void add(Apng *apng, int f)
{
    Canvas *canvas = draw_frame(f);
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
    empty_folder();
}

/* The old file is kept until apng_end, and after apng_abandon. */
TEST(all_or_nothing)
{
    size_t size;
    empty_folder();
    Apng *apng = begin(2);
    add(apng, 0);
    assert_int_not_equal(access(in_folder("film.png"), F_OK), 0);
    add(apng, 1);
    assert_true(apng_end(apng, &error));
    char *before = file_read(in_folder("film.png"), 1 << 20, &size, &error);
    apng = begin(7);
    add(apng, 3);
    apng_abandon(apng);
    char *after = file_read(in_folder("film.png"), 1 << 20, &size, &error);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    empty_folder();
    apng_abandon(NULL);
    assert_null(apng_begin("build/no/such/folder.png", 9, 9, 1, NULL, 0, &error));
    assert_non_null(strstr(error.text, "build/no/such/folder.png"));
}

TEST_MAIN("png", make_folder, remove_folder)
