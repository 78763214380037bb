/* text.c -- lines and their ends, byte order marks, compressed files; and what is not text. */
#include "data/text.h"
#include "base/rng.h"
#include "tests/fixtures/temporary.h"
#include "tests/fixtures/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[TEMPORARY_SIZE], path[TEMPORARY_SIZE + 8];

static int setup(void **state)
{
    (void)state;
    if (!temporary_folder(folder, NULL)) return -1;
    snprintf(path, sizeof path, "%s/text", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* Compresses the file at path, with the tool and not the library under test. */
static size_t compress_file(void)
{
    char command[4 * sizeof path + 32];
    snprintf(command, sizeof command, "gzip -nc %s > %s.gz && mv %s.gz %s", path, path, path,
             path);
    assert_int_equal(system(command), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

/* All lines joined by "|", or the error's sentence without the path. */
static const char *lines_of(TextReader *reader)
{
    static char joined[1 << 12];
    Error error = {{0}};
    const char *line;
    size_t length, at = 0;
    TextResult result;
    joined[0] = 0;
    while ((result = text_next(reader, &line, &length, &error)) == TEXT_LINE) {
        assert_int_equal(strlen(line), length);
        at += (size_t)snprintf(joined + at, sizeof joined - at, "%s|", line);
    }
    if (result == TEXT_ERROR) strcpy(joined, strstr(error.text, "text:") + strlen("text:"));
    text_close(reader);
    return joined;
}

static const char *lines_of_file(void)
{
    TextReader reader;
    Error error;
    assert_true(text_open(&reader, path, &error));
    return lines_of(&reader);
}

static void test_lines(void **state)
{
    (void)state;
#define CONVERT     "convert the file, for example with iconv"
#define BYTES(text) text, sizeof text - 1
    static const struct {
        const char *bytes;
        size_t count;
        const char *wanted;
    } CASE[] = {
        {BYTES(""), ""},
        {BYTES("\n"), "|"},
        {BYTES("\n\n"), "||"},
        {BYTES("one"), "one|"},
        {BYTES("one\n"), "one|"},
        {BYTES("one\ntwo"), "one|two|"},
        {BYTES("one\r\ntwo\r\n"), "one|two|"},
        {BYTES("one\r\r\n\r\ntwo\r"), "one\r||two|"},
        {BYTES("a\rb\n"), "a\rb|"},
        {BYTES("\xef\xbb\xbfone\ntwo"), "one|two|"},
        {BYTES("\xef\xbb\xbf"), "|"},
        {BYTES("one\n\xef\xbb\xbftwo"), "one|\xef\xbb\xbftwo|"},
        {BYTES("l'été ☃ 𝄞\n"), "l'été ☃ 𝄞|"},
        {BYTES("\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80\n"),
         "\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80|"},
        {BYTES("ok\nabcd\xff\n"), "2: not valid UTF-8 (byte 5 of the line is 0xff): " CONVERT},
        {BYTES("\xc0\x80"), "1: not valid UTF-8 (byte 1 of the line is 0xc0): " CONVERT},
        {BYTES("\xe0\x80\x80"), "1: not valid UTF-8 (byte 2 of the line is 0x80): " CONVERT},
        {BYTES("\xed\xa0\x80"), "1: not valid UTF-8 (byte 2 of the line is 0xa0): " CONVERT},
        {BYTES("\xf0\x8f\xbf\xbf"),
         "1: not valid UTF-8 (byte 2 of the line is 0x8f): " CONVERT},
        {BYTES("\xf4\x90\x80\x80"),
         "1: not valid UTF-8 (byte 2 of the line is 0x90): " CONVERT},
        {BYTES("\xf5\x80\x80\x80"),
         "1: not valid UTF-8 (byte 1 of the line is 0xf5): " CONVERT},
        {BYTES("caf\xe9\n"), "1: not valid UTF-8 (byte 4 of the line is 0xe9): " CONVERT},
        {BYTES("a\xe2\x98"), "1: not valid UTF-8 (byte 2 of the line is 0xe2): " CONVERT},
        {BYTES("a\nb\0c\n"), "2: byte 2 of the line is NUL: this is not a text file"},
        {BYTES("\xff\xfeh\0i\0"), "1: byte 4 of the line is NUL: this is not a text file"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file(CASE[i].bytes, CASE[i].count);
        assert_string_equal(lines_of_file(), CASE[i].wanted);
        TextReader reader;
        Error error;
        int descriptor = open(path, O_RDONLY);
        assert_true(text_open_descriptor(&reader, descriptor, "text", &error));
        assert_string_equal(lines_of(&reader), CASE[i].wanted);
        close(descriptor);
        compress_file();
        assert_string_equal(lines_of_file(), CASE[i].wanted);
    }
}

/* Every sequence of up to four bytes against a decoder that works another way round: by the
 * number it stands for. */
static bool decodes(const unsigned char *s, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t length = s[i] < 0x80   ? 1
                        : s[i] < 0xc0 ? 9
                        : s[i] < 0xe0 ? 2
                        : s[i] < 0xf0 ? 3
                        : s[i] < 0xf8 ? 4
                                      : 9;
        if (i + length > count) return false;
        unsigned code = length == 1 ? s[i] : s[i] & (0x7fu >> length);
        for (size_t k = 1; k < length; k++) {
            if ((s[i + k] & 0xc0) != 0x80) return false;
            code = code << 6 | (s[i + k] & 0x3f);
        }
        static const unsigned LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
        if (code < LEAST[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
            return false;
        }
        i += length;
    }
    return true;
}

static void test_utf8_exhaustively(void **state)
{
    (void)state;
    static const unsigned char LAST[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    size_t bad;
    for (unsigned head = 0; head < 1u << 16; head++) {
        unsigned char s[4] = {(unsigned char)(head >> 8), (unsigned char)head};
        for (size_t i = 0; i < sizeof LAST; i++) {
            for (size_t k = 0; k < sizeof LAST; k++) {
                s[2] = LAST[i], s[3] = LAST[k];
                for (size_t count = 1; count <= 4; count++) {
                    bool valid = text_is_utf8((char *)s, count, &bad);
                    if (valid != decodes(s, count)) fail_msg("%02x %02x", s[0], s[1]);
                    if (!valid) {
                        assert_true(bad < count);
                        assert_true(text_is_utf8((char *)s, bad, NULL) || bad > 0);
                    }
                }
            }
        }
    }
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    TextReader reader;
    Error error;
    assert_false(text_open(&reader, "tests/no-such-file", &error));
    assert_string_equal(error.text,
                        "cannot read 'tests/no-such-file': No such file or directory");
    assert_false(text_open(&reader, "tests", &error));
    assert_string_equal(error.text, "cannot read 'tests': it is a folder, not a file");
    text_close(&reader);
    text_close(&reader);
    assert_true(text_open(&reader, "/dev/zero", &error));
    const char *line;
    size_t length;
    assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_ERROR);
    assert_non_null(strstr(error.text, "/dev/zero:1: byte 1 of the line is NUL"));
    text_close(&reader);
}

/* A compressed file, cut off at every length and damaged at every byte: each reading ends, with
 * the right lines or a sentence. */
static void test_damaged_gz(void **state)
{
    (void)state;
    char text[2000] = "", wanted[4000] = "";
    for (int i = 0; i < 40; i++) {
        char line[32];
        snprintf(line, sizeof line, "line %d of %d", i * 7919 % 1000, i);
        strcat(strcat(text, line), "\n");
        strcat(strcat(wanted, line), "|");
    }
    write_file(text, strlen(text));
    size_t size = compress_file();
    assert_string_equal(lines_of_file(), wanted);
    unsigned char *whole = malloc(size), *copy = malloc(size);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(whole, 1, size, file), size);
    fclose(file);
    for (size_t cut = 2; cut < size; cut++) {
        write_file(whole, cut);
        const char *got = lines_of_file();
        if (!strstr(got, "cannot read on: the compressed file is cut off")) {
            fail_msg("cut at %zu: %s", cut, got);
        }
    }
    int noticed = 0;
    for (size_t at = 0; at < size; at++) {
        memcpy(copy, whole, size);
        copy[at] ^= 0x55;
        write_file(copy, size);
        noticed += strcmp(lines_of_file(), wanted) != 0;
    }
    assert_true(noticed > (int)size - 10);  // all but the time, flags and name of the system
    int descriptor = open(path, O_RDONLY);
    write_file(whole, size);
    TextReader reader;
    Error error;
    const char *line;
    size_t length;
    assert_true(text_open_descriptor(&reader, descriptor, "text", &error));
    assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_ERROR);
    text_close(&reader);
    close(descriptor);
    free(whole), free(copy);
}

static void test_long_lines(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    char *text = malloc(5 * MIB);
    memset(text, 'x', 5 * MIB);
    text[MIB] = '\n', text[MIB + 1] = '\n', text[4 * MIB] = '\n';
    const size_t wanted[] = {MIB, 0, 3 * MIB - 2, MIB - 1};
    write_file(text, 5 * MIB);
    for (int compressed = 0; compressed < 2; compressed++) {
        TextReader reader;
        Error error;
        const char *line;
        size_t length;
        assert_true(text_open(&reader, path, &error));
        for (int i = 0; i < 4; i++) {
            assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_LINE);
            assert_int_equal(length, wanted[i]);
            assert_int_equal(strspn(line, "x"), length);
        }
        assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_END);
        text_close(&reader);
        compress_file();
    }
    free(text);
}

/* With less memory than the line is long: a sentence. In a child, whose memory is limited. */
static void test_a_line_larger_than_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip();  // its shadow memory does not fit below any limit
#else
    enum { MIB = 1 << 20 };
    char *block = malloc(MIB);
    memset(block, 'x', MIB);
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < 64; i++) assert_int_equal(fwrite(block, 1, MIB, file), MIB);
    fclose(file);
    free(block);
    pid_t pid = fork();
    if (pid == 0) {
        long pages = 0;
        FILE *sizes = fopen("/proc/self/statm", "r");
        if (!sizes || fscanf(sizes, "%ld", &pages) != 1) _exit(2);
        rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 48 * MIB;
        TextReader reader;
        Error error;
        const char *line;
        size_t length;
        if (!text_open(&reader, path, &error)) _exit(3);
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
        if (text_next(&reader, &line, &length, &error) != TEXT_ERROR) _exit(4);
        _exit(strstr(error.text, "text:1: out of memory") ? 0 : 5);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
#endif
}

/* A pipe is answered line by line: the writer waits for an answer before its next line. */
static void test_a_pipe_is_read_as_it_comes(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    TextReader reader;
    Error error;
    const char *line;
    size_t length;
    assert_true(text_open_descriptor(&reader, ends[0], "standard input", &error));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(ends[1], "hello\nwor", 9), 9);
        assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_LINE);
        assert_string_equal(line, i ? "worhello" : "hello");
    }
    close(ends[1]);
    assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_LINE);
    assert_string_equal(line, "wor");
    assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_END);
    text_close(&reader);
    close(ends[0]);
}

/* Random bytes, rich in what matters, against a line splitter that reads the whole at once. */
static void test_random_bytes(void **state)
{
    (void)state;
    static const char *const PART[] = {"a",    "b ",       "\n",       "\r",
                                       "\r\n", "é",        "☃",        "\xef\xbb\xbf",
                                       "\xff", "\xe2\x98", "\x1f\x8b", "\t"};
    Rng rng = rng_stream(1, RNG_TEST, 0);
    for (int round = 0; round < 2000; round++) {
        char bytes[256], wanted[512] = "";
        size_t count = 0;
        for (uint32_t parts = rng_below(&rng, 24); parts > 0; parts--) {
            uint32_t kinds = round % 2 ? 8 : sizeof PART / sizeof *PART;
            const char *part = PART[rng_below(&rng, kinds)];
            memcpy(bytes + count, part, strlen(part));
            count += strlen(part);
        }
        write_file(bytes, count);
        bool valid = true;
        for (size_t from = 0, lines = 0; from < count; lines++) {
            char *feed = memchr(bytes + from, '\n', count - from);
            size_t end = feed ? (size_t)(feed - bytes) : count, next = end + 1;
            if (lines == 0 && end >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) from = 3;
            if (end > from && bytes[end - 1] == '\r') end--;
            valid = valid && decodes((unsigned char *)bytes + from, end - from);
            strncat(strncat(wanted, bytes + from, end - from), "|", 2);
            from = next;
        }
        const char *got = lines_of_file();
        if (valid) {
            assert_string_equal(got, wanted);
        } else {
            assert_true(strstr(got, "not valid UTF-8") || strstr(got, "damaged") ||
                        strstr(got, "cut off"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_utf8_exhaustively),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_damaged_gz),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_a_line_larger_than_memory),
        cmocka_unit_test(test_a_pipe_is_read_as_it_comes),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
