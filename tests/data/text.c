/* text.c -- lines and their ends, byte order marks, compressed files, and files that are not
 * text. */
#include "data/text.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static TextReader reader;
static const char *line;
static size_t length;
static Error error;

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* Compresses the file at path, with gzip and not with the library under test. */
static void compress_file(void)
{
    char command[3 * sizeof path + 32];
    snprintf(command, sizeof command, "gzip -n %s && mv %s.gz %s", path, path, path);
    assert_int_equal(system(command), 0);
}

/* All lines of the file, joined by "|", or the error without the path. */
static const char *lines_of_file(void)
{
    static char joined[1 << 12];
    TextResult result;
    *joined = 0;
    assert_true(text_open(&reader, path, &error));
    while ((result = text_next(&reader, &line, &length, &error)) == TEXT_LINE) {
        assert_int_equal(strlen(line), length);
        strcat(strcat(joined, line), "|");
    }
    if (result == TEXT_ERROR) strcpy(joined, strstr(error.text, path) + strlen(path) + 1);
    text_close(&reader);
    return joined;
}

TEST(lines)
{
#define NUL(byte)                                                                              \
    "byte " #byte                                                                              \
    " of the line is NUL: this is not a text file, the command file says what it "             \
    "is; `invalid replace` reads it all the same"
#define INVALID(byte, value)                                                                   \
    "1: not valid UTF-8 (byte " #byte " of the line is " #value                                \
    "): convert the file, for example from LATIN1 (iconv -f LATIN1 -t UTF-8), or set "         \
    "`invalid` to "                                                                            \
    "replace"
    static const BytesCase CASE[] = {
        {BYTES(""), ""},
        {BYTES("\n"), "|"},
        {BYTES("\n\n"), "||"},
        {BYTES("one"), "one|"},
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
        {BYTES("\xc0\x80"), INVALID(1, 0xc0)},
        {BYTES("caf\xe9\n"), INVALID(4, 0xe9)},
        {BYTES("a\xe2\x98"), INVALID(2, 0xe2)},
        {BYTES("abcdefgh\nb\0c\n"), "2: " NUL(2)},
        {BYTES("Milk\0x and tea\0y and jam.\n"), "1: " NUL(5)},
        {BYTES("abcdea\xff\xfeh\0i\0"), "1: " NUL(10)},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file(CASE[i].bytes, CASE[i].count);
        assert_string_equal(lines_of_file(), CASE[i].wanted);
        compress_file();
        assert_string_equal(lines_of_file(), CASE[i].wanted);
    }
}

/* Other formats, plain and inside a .gz. Cut shorter than their mark, they are only no text. */
TEST(formats)
{
    static const BytesCase CASE[] = {
        {BYTES("\xfd\x37zXZ\0\0\4"), "an xz file, not UTF-8 text: give <(xzcat"},
        {BYTES("BZh91AY&SY\xf1"), "a bzip2 file, not UTF-8 text: give <(bzcat"},
        {BYTES("\x28\xb5\x2f\xfd\4\n"), "a zstd file, not UTF-8 text: give <(zstdcat"},
        {BYTES("\4\"M\x18\n"), "an lz4 file, not UTF-8 text: give <(lz4cat"},
        {BYTES("\x1f\x9d\x90\n"), "a compress file, not UTF-8 text: give <(zcat"},
        {BYTES("PK\3\4\n\0"), "a zip archive, not UTF-8 text: give <(unzip -p"},
        {BYTES("7z\xbc\xaf\x27\x1c\n"), "a 7z archive, not UTF-8 text: give <(7z x -so"},
        {BYTES("\xff\xfeh\0\n\0"), "UTF-16, not UTF-8 text: give <(iconv -f UTF-16"},
        {BYTES("\xfe\xff\0a\0\n"), "UTF-16, not UTF-8 text: give <(iconv -f UTF-16"},
        {BYTES("h\0i\0\n\0"), "UTF-16LE, not UTF-8 text: give <(iconv -t UTF-8 -f UTF-16LE"},
        {BYTES("\0h\0i\0\n"), "UTF-16BE, not UTF-8 text: give <(iconv -t UTF-8 -f UTF-16BE"},
        {BYTES("\xff\xfe\0\0a\0\0\0"), "UTF-32, not UTF-8 text: give <(iconv -f UTF-32"},
        {BYTES("\0\0\xfe\xff\0\0\0a"), "UTF-32, not UTF-8 text: give <(iconv -f UTF-32"},
        {BYTES("a cat\n\x1b$BG-\x1b(B\n"),
         "ISO-2022-JP, not UTF-8 text: give <(iconv -t UTF-8 -f ISO-2022-JP"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file(CASE[i].bytes, CASE[i].count);
        assert_non_null(strstr(lines_of_file(), CASE[i].wanted));
        compress_file();
        char zipped[200], *command = strstr(CASE[i].wanted, "<(") + 2;
        snprintf(zipped, sizeof zipped, "%.*szcat '", (int)(command - CASE[i].wanted),
                 CASE[i].wanted);
        assert_non_null(strstr(lines_of_file(), zipped));
        assert_non_null(strstr(lines_of_file(), *command == 'u' ? " | funzip)" : command));
        write_file(CASE[i].bytes, 1);
        assert_null(strstr(lines_of_file(), "in its place"));
    }
    write_file(BYTES("%PDF-1.4\n%\xe2\xe3\n"));
    assert_non_null(strstr(lines_of_file(), "is a PDF, not UTF-8 text: give <(pdftotext '"));
    assert_non_null(strstr(lines_of_file(), " -) in its place"));
    char tar[4 * 512] = "README";
    memcpy(tar + 124, "00000000003", 12);
    memcpy(tar + 257, "ustar", 5);
    strcpy(tar + 2 * 512, "corpus/été.en");
    memcpy(tar + 2 * 512 + 257, "ustar", 5);
    write_file(tar, sizeof tar);
    for (int zipped = 0; zipped < 2; zipped++, compress_file()) {
        assert_non_null(
            strstr(lines_of_file(), "a tar archive, not UTF-8 text: give <(tar -xOf '"));
        assert_non_null(strstr(lines_of_file(), " MEMBER) in its place, for each side another; "
                                                "it has README, corpus/été.en"));
    }
}

/* Zip archives with members of two names: documents by any of them. */
TEST(members)
{
    static const struct {
        const char *name[2], *wanted;
    } CASE[] = {
        {{"対訳.en", "en-fr/"}, "' '対訳.en') in its place"},
        {{"a.en", "a.fr"}, " MEMBER) in its place, for each side another; it has a.en, a.fr"},
        {{"words/a.en", "mimetypes"}, "it has words/a.en, mimetypes"},
        {{"docProps/app.xml", "xl/sheet1.xml"}, "is a document of an office program, not text"},
        {{"a.xml", "[Content_Types].xml"}, "is a document of an office program, not text"},
        {{"mimetype", "content.xml"}, "is a document of an office program, not text"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char zip[600] = "";
        size_t at = 0;
        for (int k = 0; k < 4; k++) {  // two with what they contain, and the list of both
            const char *name = CASE[i].name[k & 1];
            size_t header = k < 2 ? 30 : 46;
            memcpy(zip + at, k < 2 ? "PK\3\4" : "PK\1\2", 4);
            zip[at + (k < 2 ? 26 : 28)] = (char)strlen(name);
            strcpy(zip + at + header, name);
            at += header + strlen(name) + 5;
        }
        write_file(zip, sizeof zip);
        if (!strstr(lines_of_file(), CASE[i].wanted)) fail_msg("%zu: %s", i, lines_of_file());
        compress_file();
        assert_true(!strstr(lines_of_file(), "office") == !strstr(CASE[i].wanted, "office"));
    }
}

/* Text in other encodings, by iconv. */
TEST(encodings)
{
    static const char RUSSIAN[] = "Моя сестра читает книгу. Наш учитель видит новый дом.\n"
                                  "Старый друг купил красную машину, а соседка – зонтик.\n",
                      CHINESE[] = "今天老师买了一本书。\n昨天，他们看见两只猫和一座桥。\n"
                                  "我喜欢苹果和梨，但是没有什么东西。\n",
                      ENGLISH[] = "She said: “It’s a book”…\n",
                      CZECH[] = "Příliš žluťoučký kůň úpěl ďábelské ódy.\n";
    static const struct {
        const char *text, *encoding, *wanted;
    } CASE[] = {
        {RUSSIAN, "UTF-16LE", "is UTF-16LE, not UTF-8 text"},
        {RUSSIAN, "UTF-16BE", "is UTF-16BE, not UTF-8 text"},
        {CHINESE, "UTF-16LE", "is UTF-16LE, not UTF-8 text"},
        {CHINESE, "UTF-16BE", "is UTF-16BE, not UTF-8 text"},
        {CHINESE, "UTF-32LE", "is UTF-32LE, not UTF-8 text"},
        {RUSSIAN, "WINDOWS-1251",
         "for example from windows-1251 (iconv -f windows-1251 -t UTF-8"},
        {CHINESE, "GB18030", "for example from GB18030 ("},
        {ENGLISH, "WINDOWS-1252", "for example from WINDOWS-1252 ("},
        {CZECH, "ISO-8859-2", "from the encoding of its language"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char command[4 * sizeof path + 80];
        write_file(CASE[i].text, strlen(CASE[i].text));
        snprintf(command, sizeof command, "iconv -f UTF-8 -t %s %s >%s.2 && mv %s.2 %s",
                 CASE[i].encoding, path, path, path, path);
        assert_int_equal(system(command), 0);
        if (!strstr(lines_of_file(), CASE[i].wanted)) fail_msg("%zu: %s", i, lines_of_file());
    }
    char text[1000] = "";
    for (int i = 0; i < 12; i++) strcat(text, i == 2 ? "caf\xe9 " : "café ");
    write_file(text, strlen(text));
    assert_non_null(strstr(lines_of_file(), "unlike the lines around it: mend the line"));
}

/* Whether the bytes are UTF-8 by the table of RFC 3629, section 4. */
static bool is_utf8(const char *bytes, size_t count)
{
    static const struct {
        unsigned char first, last, low, high;  // of the lead byte and of the byte after it
        size_t follow;
    } TABLE[] = {
        {0x00, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
        {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
        {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3}};
    const unsigned char *s = (const unsigned char *)bytes;
    for (size_t i = 0, row = 0; i < count; i += TABLE[row].follow + 1) {
        for (row = 0; s[i] < TABLE[row].first || s[i] > TABLE[row].last;)
            if (++row == sizeof TABLE / sizeof *TABLE) return false;
        if (i + TABLE[row].follow >= count) return false;
        for (size_t k = 1; k <= TABLE[row].follow; k++)
            if (s[i + k] < (k > 1 ? 0x80 : TABLE[row].low) ||
                s[i + k] > (k > 1 ? 0xbf : TABLE[row].high))
                return false;
    }
    return true;
}

/* All sequences of up to four bytes, of which the last two are at the borders of the ranges. */
TEST(utf8_exhaustively)
{
    static const unsigned char LAST[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    for (unsigned i = 0; i < (36u << 16) * 4; i++) {
        const unsigned char byte[4] = {(unsigned char)(i >> 10), (unsigned char)(i >> 2),
                                       LAST[(i >> 18) % 6], LAST[(i >> 18) / 6]};
        const char *s = (const char *)byte;
        size_t count = i % 4 + 1, bad = 0;
        bool valid = utf8_is_valid(s, count, &bad);
        if (valid != is_utf8(s, count)) fail_msg("%02x %02x", byte[0], byte[1]);
        bool after = valid || (bad < count && is_utf8(s, bad));
        for (size_t end = bad + 1; !valid && end <= count; end++)
            after &= !is_utf8(s + bad, end - bad);
        if (!after) fail_msg("%02x %02x: byte %zu", byte[0], byte[1], bad);
    }
}

TEST(unreadable_files)
{
    assert_false(text_open(&reader, "tests/no-such-file", &error));
    assert_string_equal(error.text,
                        "cannot read 'tests/no-such-file': No such file or directory");
    assert_false(text_open(&reader, "tests", &error));
    assert_string_equal(error.text, "cannot read 'tests': it is a folder, not a file");
    text_close(&reader);
    text_close(&reader);
    assert_true(text_open(&reader, "/dev/zero", &error));
    assert_int_equal(text_next(&reader, &line, &length, &error), TEXT_ERROR);
    assert_non_null(strstr(error.text, "/dev/zero:1: byte 1 of the line is NUL"));
    text_close(&reader);
}

/* A compressed file, cut off at every length and damaged at every byte, gives the lines or an
 * error. */
TEST(damaged_gz)
{
    char text[2000] = "", wanted[2000];
    for (int i = 0; i < 40; i++)
        sprintf(text + strlen(text), "line %d of %d\n", i * 7919 % 1000, i);
    strcpy(wanted, text);
    for (char *feed; (feed = strchr(wanted, '\n'));) *feed = '|';
    write_file(text, strlen(text));
    compress_file();
    assert_string_equal(lines_of_file(), wanted);
    unsigned char whole[2000];
    FILE *file = fopen(path, "rb");
    size_t size = fread(whole, 1, sizeof whole, file), noticed = 0;
    fclose(file);
    for (size_t count = 2; count < size; count++) {
        write_file(whole, count);
        const char *got = lines_of_file();
        if (!strstr(got, "cannot read on: the compressed file is cut off"))
            fail_msg("cut at %zu: %s", count, got);
    }
    for (size_t at = 0; at < size; at++) {
        whole[at] ^= 0x55;
        write_file(whole, size);
        whole[at] ^= 0x55;
        noticed += strcmp(lines_of_file(), wanted) != 0;
    }
    assert_true(noticed > size - 10);  // all but the time, flags and name of the system

    /* Two members, and zeros, are a whole file; nothing else may follow the first one. */
    unsigned char twice[4200] = {0};
    char both[4200];
    memcpy(mempcpy(twice, whole, size), whole, size);
    write_file(twice, 2 * size + 100);
    strcat(strcpy(both, wanted), wanted);
    assert_string_equal(lines_of_file(), both);
    for (size_t at = 0; at < 4; at++) {
        twice[size + at] ^= 0x55;
        write_file(twice, 2 * size);
        twice[size + at] ^= 0x55;
        assert_non_null(strstr(lines_of_file(), "or something follows its end"));
    }
    memcpy(twice + size, "\0\0rubbish", 9);
    write_file(twice, size + 9);
    assert_non_null(strstr(lines_of_file(), "or something follows its end"));
}

TEST(long_lines)
{
    enum { MIB = 1 << 20 };
    char *text = malloc(5 * MIB);
    memset(text, 'x', 5 * MIB);
    text[MIB] = '\n', text[MIB + 1] = '\n', text[4 * MIB] = '\n';
    const size_t wanted[] = {MIB, 0, 3 * MIB - 2, MIB - 1};
    write_file(text, 5 * MIB);
    for (int compressed = 0; compressed < 2; compressed++) {
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* In a child process: reads the file with 48 MB of memory. The exit status says what is
 * wrong. */
static int read_in_little_memory(void)
{
    long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    if (!sizes || fscanf(sizes, "%ld", &pages) != 1) return 2;
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (48 << 20);
    if (!text_open(&reader, path, &error)) return 3;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    if (text_next(&reader, &line, &length, &error) != TEXT_ERROR) return 4;
    return strstr(error.text, ":1: out of memory") ? 0 : 5;
}
#endif

TEST(a_line_larger_than_memory)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();  // the sanitizer's own memory is larger than any limit
#else
    enum { LENGTH = 64 << 20 };
    char *text = malloc(LENGTH);
    memset(text, 'x', LENGTH);
    write_file(text, LENGTH);
    free(text);
    pid_t pid = fork();
    if (pid == 0) _exit(read_in_little_memory());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
#endif
}

/* Each line of a pipe is returned before the next is written. */
TEST(pipes)
{
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_true(text_open(&reader, name, &error));
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

/* Random bytes, with many line ends, against a simple splitter of the whole text. */
TEST(random_bytes)
{
    static const char *const PART[] = {"a",    "b ",       "\n",       "\r",
                                       "\r\n", "é",        "☃",        "\xef\xbb\xbf",
                                       "\xff", "\xe2\x98", "\x1f\x8b", "\t"};
    Rng rng = rng_stream(1, RNG_TEST, 0);
    for (int round = 0; round < 2000; round++) {
        char bytes[256] = "", wanted[512] = "";
        for (uint32_t parts = rng_below(&rng, 24); parts > 0; parts--)
            strcat(bytes, PART[rng_below(&rng, round % 2 ? 8 : 12)]);
        write_file(bytes, strlen(bytes));
        bool valid = true;
        char *from = strncmp(bytes, "\xef\xbb\xbf", 3) ? bytes : bytes + 3;
        for (bool last = !*bytes; !last;) {
            size_t count = strcspn(from, "\n"), next = count + 1;
            last = !from[count] || !from[next];
            if (count && from[count - 1] == '\r') count--;
            valid = valid && is_utf8(from, count);
            strcat(strncat(wanted, from, count), "|");
            from += next;
        }
        const char *got = lines_of_file();
        if (valid) assert_string_equal(got, wanted);
        else
            assert_true(strstr(got, "not valid UTF-8") || strstr(got, "damaged") ||
                        strstr(got, "cut off"));
    }
}

/* With `replace` every line is valid, each invalid byte is one U+FFFD, and valid lines stay. */
TEST(replaced_bytes)
{
#define R "\xef\xbf\xbd"
    static const struct {
        const char *bytes;
        size_t count;
        const char *wanted;
        size_t replaced;
    } CASE[] = {
        {BYTES("one\nl'été ☃ 𝄞\n" R "\n"), "one|l'été ☃ 𝄞|" R "|", 0},
        {BYTES("a\xff\nb\nc\n"), "a" R "|b|c|", 1},
        {BYTES("\xc3\n\xe9t\xe9\r\n"), R "|" R "t" R "|", 2},
        {BYTES("a\0b\n\0\nc"), "a" R "b|" R "|c|", 2},
        {BYTES("\xf0\x9d\x84"), R R R "|", 1},
        {BYTES("\xed\xa0\x80\xc0\xafx\n"), R R R R R "x|", 1},
        {BYTES("\xef\xbb\xbf\xff\n"), R "|", 1},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        write_file(CASE[i].bytes, CASE[i].count);
        for (int way = 0; way < 2; way++) {
            char joined[100] = "";
            if (way == 1) compress_file();
            assert_true(text_open(&reader, path, &error));
            if (way == 1) write_file(CASE[i].bytes, CASE[i].count);
            reader.replace = true;
            while (text_next(&reader, &line, &length, &error) == TEXT_LINE) {
                assert_int_equal(strlen(line), length);
                assert_true(is_utf8(line, length));
                strcat(strcat(joined, line), "|");
            }
            assert_string_equal(joined, CASE[i].wanted);
            assert_int_equal(reader.replaced, CASE[i].replaced);
            text_close(&reader);
        }
    }
}

TEST_MAIN("text", path_make, path_remove)
