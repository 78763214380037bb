/* The progress line: no wider than the terminal, also when that is resized; how often it is
 * printed where there is no terminal, by a clock of the test's own. */
#include "tests/fixtures/test.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/columns.h"
#include "commands/progressbar.h"

typedef struct Terminal {
    int master;
    FILE *out;
} Terminal;

static bool terminal_open(Terminal *t)
{
    t->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (t->master < 0 || grantpt(t->master) != 0 || unlockpt(t->master) != 0) return false;
    const char *name = ptsname(t->master);
    return name && (t->out = fopen(name, "w"));
}

/* What is drawn at `now` with a terminal of so many columns; "" if nothing is. Checks that the
 * old line is removed. */
static const char *drawn(ProgressBar *bar, Terminal *t, int columns, double now)
{
    static char text[1024];
    static const char REMOVE[] = "\r\033[K";
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
    if (!progressbar_begin(bar, now)) return "";
    progressbar_share(bar, 0.456, 220, true);
    progressbar_add(bar, "update 1,080/2,400");
    progressbar_add(bar, "loss 2.345");
    progressbar_add(bar, "epoch 21");
    progressbar_add(bar, "96,000 tokens/s");
    progressbar_add(bar, "lr 0.0012");
    progressbar_end(bar);
    ssize_t length = read(t->master, text, sizeof text - 1);
    assert_true(length > 0);
    text[length] = 0;
    assert_memory_equal(text, REMOVE, strlen(REMOVE));
    return text + strlen(REMOVE);
}

TEST(a_line_fits_into_the_terminal)
{
    Terminal t;
    if (!terminal_open(&t)) {
        print_message("skipped the progress line: no pseudo-terminal\n");
        skip();
    }
    ProgressBar bar = progressbar_start(t.out, 100);
    double now = 100;
    for (int columns = 10; columns < 200; columns++)
        assert_true(columns_width(drawn(&bar, &t, columns, now += 1)) < columns);
    static const char EIGHTY[] =
        " 45% [#########           ] at most 3m40s left  update 1,080/2,400  loss 2.345";
    assert_string_equal(drawn(&bar, &t, 80, now += 1), EIGHTY);
    assert_string_equal(drawn(&bar, &t, 0, now += 1), EIGHTY);  // unknown: 80
    assert_string_equal(drawn(&bar, &t, 40, now += 1),
                        " 45% [#####       ] at most 3m40s left");
    assert_string_equal(drawn(&bar, &t, 30, now += 1), " 45% at most 3m40s left");
    assert_string_equal(drawn(&bar, &t, 20, now += 1), " 45% at most 3m40s…");
    assert_string_equal(drawn(&bar, &t, 80, bar.shown + 0.1), "");
    assert_string_not_equal(drawn(&bar, &t, 80, bar.shown + 0.3), "");
    char text[64] = "";
    assert_true(progressbar_begin(&bar, now + 9));
    progressbar_add(&bar, "reading %s", "\033[2J");  // the name of a file
    progressbar_end(&bar);
    assert_true(read(t.master, text, sizeof text - 1) > 0);
    assert_string_equal(text, "\r\033[Kreading \uFFFD[2J");
    fclose(t.out);
    close(t.master);
}

/* The times of the lines, as text, of a bar that is called every `step` seconds for 70. */
static const char *times(int step)
{
    static char text[512];
    FILE *out = tmpfile();
    assert_non_null(out);
    ProgressBar bar = progressbar_start(out, 1000);
    text[0] = 0;
    for (int s = step; s <= 70; s += step) {
        if (!progressbar_begin(&bar, 1000 + s)) continue;
        progressbar_share(&bar, 0.5, 10, false);
        progressbar_add(&bar, "update %d", s);
        progressbar_end(&bar);
    }
    progressbar_clear(&bar);
    rewind(out);
    for (char line[128]; fgets(line, sizeof line, out);) {
        assert_memory_equal(line, " 50% 10s left  update ", 22);
        strcat(strcat(text, text[0] ? " " : ""), strtok(line + 22, "\n"));
    }
    fclose(out);
    return text;
}

TEST(lines_in_a_pipe_come_every_10_seconds)
{
    assert_string_equal(times(1), "10 20 30 40 50 60 70");
    assert_string_equal(times(8), "16 32 48 64");
    assert_string_equal(times(35), "35 70");
}

TEST(a_bar_without_a_file_is_silent)
{
    ProgressBar bar = progressbar_start(NULL, 0);
    assert_false(progressbar_begin(&bar, 1000));
    progressbar_clear(&bar);
}

TEST(time_left_that_is_unknown_is_left_out)
{
    FILE *out = tmpfile();
    char line[64];
    assert_non_null(out);
    ProgressBar bar = progressbar_start(out, 0);
    assert_true(progressbar_begin(&bar, 100));
    progressbar_share(&bar, 0.999, NAN, true);
    progressbar_end(&bar);
    rewind(out);
    assert_non_null(fgets(line, sizeof line, out));
    assert_string_equal(line, " 99%\n");
    fclose(out);
}

TEST_MAIN("progressbar", NULL, NULL)
