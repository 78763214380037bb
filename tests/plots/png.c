/* Canvases written to PNG files: libpng reads back what was drawn, and a failure leaves nothing
 * behind. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
    assert_true(canvas_new(&canvas, THEME_DARK, &error));
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
    Color page = theme_palettes[THEME_DARK].page;
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

TEST_MAIN("png", make_folder, remove_folder)
