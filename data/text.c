/* text.c -- lines of UTF-8 text from a file, plain or .gz, or from a descriptor; see text.h.
 *
 * Bytes are read in blocks into one buffer, which grows when a line does not fit. A line is
 * returned as a part of that buffer. Every block is searched for a NUL byte when it arrives, so
 * a binary or endless file is refused at once and not when its first line ends. */
#include "data/text.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/utf8.h"
#include "data/encoding.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 1 << 16 };

typedef struct TextUnzip {
    z_stream stream;
    bool ended;                      // the member is complete
    unsigned char bytes[1 + BLOCK];  // of the file, as they are read; the first may come alone
} TextUnzip;

const char *const text_invalid_names[] = {"stop", "replace", NULL};

bool text_columns(const char *line, size_t *length, const char *mark, const char **second,
                  size_t *second_length)
{
    size_t width = strlen(mark);
    const char *end = line + *length, *at = memmem(line, *length, mark, width);
    *second = at ? at + width : end;
    const char *next = memmem(*second, (size_t)(end - *second), mark, width);
    *second_length = (size_t)((next ? next : end) - *second);
    if (at) *length = (size_t)(at - line);
    return at;
}

bool text_replace(TextReader *reader, const char **line, size_t *length, Error *error)
{
    const char *from = *line, *end = from + *length;
    if (!GROW(reader->valid, reader->valid_size, 3 * *length + 1))
        return error_set(error, "%s:%zu: out of memory: the line has %zu bytes", reader->name,
                         reader->line, *length);
    char *to = reader->valid;
    for (size_t count; from < end; from += count) {
        unsigned code;  // U+FFFD in one byte: no character
        count = (size_t)utf8_decode(from, (size_t)(end - from), &code);
        bool good = count > 1 || (code > 0 && code < 0x80);
        to = mempcpy(to, good ? from : "\xef\xbf\xbd", good ? count : 3);
    }
    *to = 0;
    *line = reader->valid;
    *length = (size_t)(to - reader->valid);
    reader->replaced++;
    return true;
}

/* Makes the buffer large enough for one more block and a NUL byte. */
static bool reserve_block(TextReader *reader, Error *error)
{
    if (reader->begin > 0) {
        memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
    }
    if (reader->end > TEXT_MAX_LINE)
        return error_set(error, "%s:%zu: the line is longer than %zu bytes: is it text?",
                         reader->name, reader->line + 1, TEXT_MAX_LINE);
    return GROW(reader->buffer, reader->size, reader->end + BLOCK + 1) ||
           error_set(error, "%s:%zu: out of memory: the line has more than %zu bytes",
                     reader->name, reader->line + 1, reader->end);
}

bool text_open(TextReader *reader, const char *path, Error *error)
{
    bool dash = !strcmp(path, "-");
    struct stat status;
    int descriptor = dash ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *reader = (TextReader){.name = dash ? TEXT_STANDARD_INPUT : path, .descriptor = descriptor};
    if (descriptor < 0) return error_set(error, "cannot read '%s': %s", path, strerror(errno));
    bool folder = fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
    if (folder) error_set(error, "cannot read '%s': it is a folder, not a file", path);
    return (!folder && reserve_block(reader, error)) || (text_close(reader), false);
}

void text_close(TextReader *reader)
{
    if (reader->unzip) inflateEnd(&reader->unzip->stream);
    if (reader->name && reader->descriptor >= 0) close(reader->descriptor);
    free(reader->unzip);
    free(reader->buffer);
    free(reader->valid);
    *reader = (TextReader){.descriptor = -1};
}

/* Returns false and sets the error: why the file cannot be read on. */
static bool cannot(const TextReader *reader, const char *why, Error *error)
{
    return error_set(error, "%s:%zu: cannot read on: %s", reader->name, reader->line + 1, why);
}

/* *got (=) the number of bytes that are read, at most a BLOCK; 0 at the end. */
static bool read_bytes(TextReader *reader, void *into, size_t *got, Error *error)
{
    ssize_t count;
    do {
        if (!file_wait(reader->descriptor, POLLIN))
            return cannot(reader, "a signal ends it", error);
        count = read(reader->descriptor, into, BLOCK);
    } while (count < 0 && (errno == EINTR || errno == EAGAIN));
    *got = count < 0 ? 0 : (size_t)count;
    return count >= 0 || cannot(reader, strerror(errno), error);
}

/* The buffer's bytes are those of a compressed file, its beginning. */
static bool begin_unzip(TextReader *reader, Error *error)
{
    enum { GZIP_WINDOW = 15 + 16 };  // of 2^15 bytes; 16: with the header of gzip
    TextUnzip *unzip = calloc(1, sizeof *unzip);
    if (!unzip || inflateInit2(&unzip->stream, GZIP_WINDOW) != Z_OK)
        return free(unzip), cannot(reader, "out of memory", error);
    reader->unzip = unzip;
    unzip->stream.next_in = memcpy(unzip->bytes, reader->buffer, reader->end);
    unzip->stream.avail_in = (unsigned)reader->end;
    reader->end = 0;
    return true;
}

/* The same as read_bytes, of what the file contains. It may have several members, and zeros after
 * the last one. */
static bool unzip_bytes(TextReader *reader, void *into, size_t *got, Error *error)
{
    TextUnzip *unzip = reader->unzip;
    z_stream *z = &unzip->stream;
    for (z->next_out = into, z->avail_out = BLOCK; z->avail_out == BLOCK;) {
        size_t count = z->avail_in;
        if (!count && !read_bytes(reader, z->next_in = unzip->bytes, &count, error))
            return false;
        z->avail_in = (unsigned)count;
        if (!count && unzip->ended) break;
        while (unzip->ended && z->avail_in && !*z->next_in) z->next_in++, z->avail_in--;
        if (count && !z->avail_in) continue;
        if (unzip->ended) inflateReset(z);
        int code = inflate(z, Z_NO_FLUSH);  // an error where there are no bytes
        unzip->ended = code == Z_STREAM_END;
        if (code == Z_MEM_ERROR) return cannot(reader, "out of memory", error);
        if (code != Z_OK && code != Z_STREAM_END)
            return cannot(reader,
                          "the compressed file is cut off or damaged, or something follows "
                          "its end: copy or download it again",
                          error);
    }
    *got = BLOCK - z->avail_out;
    return true;
}

/* Reads one more block; at first, enough to know whether the file is compressed. */
static bool read_block(TextReader *reader, Error *error)
{
    bool first = !reader->unzip && !reader->line && !reader->end;
    do {
        size_t got = 0;
        if (!reserve_block(reader, error) ||
            !(reader->unzip ? unzip_bytes : read_bytes)(reader, reader->buffer + reader->end,
                                                        &got, error))
            return false;
        reader->at_end = got == 0;
        reader->end += got;
    } while (first && reader->end == 1 && *reader->buffer == 0x1f && !reader->at_end);
    return !first || reader->end < 2 || memcmp(reader->buffer, "\x1f\x8b", 2) ||
           begin_unzip(reader, error);
}

/* Files that are not plain text, by the bytes that they have in one place, or if these are NULL by
 * their encoding; and the command that writes their text, NULL: a document of an office program. UTF-32
 * stands before UTF-16, which begins with the same bytes. */
typedef struct Format {
    const char *bytes;
    int length, place;
    const char *name, *command;
} Format;
static const Format FORMATS[] = {
    {"\xfd\x37zXZ", 5, 0, "an xz file", "xzcat"},
    {"1AY&SY", 6, 4, "a bzip2 file", "bzcat"},
    {"\x28\xb5\x2f\xfd", 4, 0, "a zstd file", "zstdcat"},
    {"\x04\x22\x4d\x18", 4, 0, "an lz4 file", "lz4cat"},
    {"\x1f\x8b", 2, 0, "a gzip file", "zcat"},
    {"\x1f\x9d", 2, 0, "a compress file", "zcat"},
    {"PK\3\4", 4, 0, "a zip archive", "unzip -p"},
    {"7z\xbc\xaf\x27\x1c", 6, 0, "a 7z archive", "7z x -so"},
    {"ustar", 5, 257, "a tar archive", "tar -xOf"},
    {"%PDF-", 5, 0, "a PDF", "pdftotext"},
    {"\xd0\xcf\x11\xe0", 4, 0, "a document", NULL},
    {"{\\rtf", 5, 0, "a document", NULL},
    {"\xff\xfe\0\0", 4, 0, "UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {"\0\0\xfe\xff", 4, 0, "UTF-32", "iconv -f UTF-32 -t UTF-8"},
    {"\xff\xfe", 2, 0, "UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, 0, "UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {NULL, 0, 0, "UTF-32LE", "iconv -t UTF-8 -f UTF-32LE"},
    {NULL, 0, 0, "UTF-32BE", "iconv -t UTF-8 -f UTF-32BE"},
    {NULL, 0, 0, "UTF-16LE", "iconv -t UTF-8 -f UTF-16LE"},
    {NULL, 0, 0, "UTF-16BE", "iconv -t UTF-8 -f UTF-16BE"},
    {NULL, 0, 0, "ISO-2022-JP", "iconv -t UTF-8 -f ISO-2022-JP"},
};

/* The format of a text, of which the buffer has the beginning; NULL: it is plain. */
static const Format *format_of(const TextReader *reader)
{
    const char *bytes = (char *)reader->buffer;
    size_t count = reader->end < BLOCK ? reader->end : BLOCK;
    bool nul = !reader->replace && memchr(bytes, 0, count);
    const char *encoding = nul                                 ? encoding_wide(bytes, count)
                           : memmem(bytes, count, "\x1b$B", 3) ? "ISO-2022-JP"
                                                               : NULL;
    for (const Format *f = FORMATS; f < FORMATS + sizeof FORMATS / sizeof *FORMATS; f++)
        if (f->bytes ? reader->end >= (size_t)(f->place + f->length) &&
                           !memcmp(bytes + f->place, f->bytes, (size_t)f->length)
                     : encoding && !strcmp(encoding, f->name))
            return f;
    return NULL;
}

/* "README, a.en, a.fr": the members of an archive, as many as the names can hold. */
typedef struct Members {
    char names[300];
    int count;
    bool office;  // the archive is a document of an office program
} Members;

/* Adds a member, unless it is a folder, or has no printable name. */
static void add_member(Members *m, const char *bytes, size_t count)
{
    static const char *const OFFICE[] = {"\\[Content_Types].xml", "mimetype", "word/*", "xl/*",
                                         "ppt/*"};
    char name[sizeof m->names];
    snprintf(name, sizeof name, "%.*s", (int)count, bytes);
    size_t length = strlen(name), used = strlen(m->names);
    for (int i = 0; i < 5; i++) m->office |= !fnmatch(OFFICE[i], name, 0);
    bool good = length && name[length - 1] != '/' && utf8_is_valid(name, length, NULL);
    for (size_t i = 0; good && i < length; i++) good = (unsigned char)name[i] >= ' ';
    m->count += good;
    if (good && used + length + 3 < sizeof m->names)
        strcpy(stpcpy(m->names + used, used ? ", " : ""), name);
}

/* Of a zip archive, from the list at its end; or if it cannot be read again, from its beginning. */
static void list_zip(Members *m, const TextReader *reader)
{
    unsigned char *bytes = reader->buffer;
    struct stat file;
    ssize_t count = (ssize_t)reader->end;
    bool again = !reader->unzip && !fstat(reader->descriptor, &file) && S_ISREG(file.st_mode);
    if (again)
        count = pread(reader->descriptor, bytes, BLOCK,
                      file.st_size > BLOCK ? file.st_size - BLOCK : 0);
    for (ssize_t at = 0, header = again ? 46 : 30; at + header < count; at++) {
        if (memcmp(bytes + at, again ? "PK\1\2" : "PK\3\4", 4)) continue;
        const unsigned char *size = bytes + at + header - (again ? 18 : 4);
        ssize_t length = size[0] + 256 * size[1];
        if (at + header + length <= count)
            add_member(m, (const char *)bytes + at + header, (size_t)length);
    }
}

/* Of a tar archive, which it reads on: a header of 512 bytes before each member. */
static void list_tar(Members *m, TextReader *reader)
{
    enum { HEADER = 512, SIZE = 124, DIGITS = 12, TYPE = 156 };
    Error unused;
    for (size_t skip = 0;;) {
        size_t there = reader->end - reader->begin, some = skip < there ? skip : there;
        reader->begin += some;
        skip -= some;
        if (skip || there - some < HEADER) {
            if (skip > TEXT_MAX_LINE || reader->at_end || !read_block(reader, &unused)) return;
            continue;
        }
        char *header = (char *)reader->buffer + reader->begin;
        if (memcmp(header + 257, "ustar", 5)) return;
        if (header[TYPE] == '0' || !header[TYPE]) add_member(m, header, strnlen(header, 100));
        char size[DIGITS + 1] = "";  // octal
        memcpy(size, header + SIZE, DIGITS);
        skip = HEADER + (strtoull(size, NULL, 8) + HEADER - 1) / HEADER * HEADER;
    }
}

/* False if the text has a format; the error is a command that writes its text. */
static bool check_format(TextReader *reader, Error *error)
{
    const Format *f = format_of(reader);
    Members m = {.office = false};
    if (!f) return true;
    bool tar = f->place == 257, zip = !strcmp(f->name, "a zip archive"),
         again = strcmp(reader->name, TEXT_STANDARD_INPUT);
    if (tar) list_tar(&m, reader);
    if (zip) list_zip(&m, reader);
    if (m.office || !f->command)
        return error_set(
            error,
            "%s is a document of an office program, not text: save it from there as "
            "text, with a TAB between the columns",
            reader->name);
    char file[sizeof error->text], command[2 * sizeof file];
    snprintf(file, sizeof file, again ? "'%s'" : "FILE", reader->name);
    if (zip && reader->unzip) *m.names = 0;  // funzip writes the first
    const char *after = *m.names ? " MEMBER" : !strcmp(f->name, "a PDF") ? " -" : "";
    if (reader->unzip && !tar)
        snprintf(command, sizeof command, "zcat %s | %s", file, zip ? "funzip" : f->command);
    else snprintf(command, sizeof command, "%s %s%s", f->command, file, after);
    if (zip && m.count == 1 && *m.names) {
        snprintf(command, sizeof command, "%s %s '%s'", f->command, file, m.names);
        *m.names = 0;
    }
    return again ? error_set(error, "'%s' is %s, not UTF-8 text: give <(%s) in its place%s%s",
                             reader->name, f->name, command,
                             *m.names ? ", for each side another; it has " : "", m.names)
                 : error_set(error, "%s is %s, not UTF-8 text: put %s | before the command%s%s",
                             reader->name, f->name, command, *m.names ? "; it has " : "",
                             m.names);
}

static bool check_line(TextReader *reader, const char **line, size_t *length, Error *error)
{
    size_t bad = 0;
    bool good = utf8_is_valid(*line, *length, &bad);
    if (good && !(reader->replace && memchr(*line, 0, *length))) return true;
    char *name = reader->encoding, where[80], *end = (char *)*line + *length;
    size_t rest = (size_t)((char *)reader->buffer + reader->end - *line);
    *end = '\n';
    if (!good && !reader->replaced) encoding_guess(name, *line, rest < BLOCK ? rest : BLOCK);
    *end = '\0';
    if (reader->replace) return text_replace(reader, line, length, error);
    const char *option = reader->strict ? "" : ", or set `invalid` to replace";
    snprintf(where, sizeof where, "not valid UTF-8 (byte %zu of the line is 0x%02x)", bad + 1,
             (unsigned char)(*line)[bad]);
    if (!strcmp(name, "UTF-8"))
        return error_set(error, "%s:%zu: %s, unlike the lines around it: mend the line%s",
                         reader->name, reader->line, where, option);
    return error_set(error, "%s:%zu: %s: convert the file%s%s (iconv -f %s -t UTF-8)%s",
                     reader->name, reader->line, where,
                     *name ? ", for example from "
                           : " from the encoding of its language, such as WINDOWS-1250, "
                             "SHIFT_JIS or GB18030",
                     name, *name ? name : "ENCODING", option);
}

/* Reads blocks until the buffer has a whole line. *count (=) its bytes, *feed (=) its LF, or
 * NULL at the end of the text. */
static bool find_line(TextReader *reader, size_t *count, unsigned char **feed, Error *error)
{
    for (size_t seen = 0;;) {  // bytes without LF and NUL
        unsigned char *from = reader->buffer + reader->begin;
        size_t there = reader->end - reader->begin;
        *feed = memchr(from + seen, '\n', there - seen);
        *count = *feed ? (size_t)(*feed - from) : there;
        unsigned char *nul = reader->replace ? NULL : memchr(from + seen, 0, *count - seen);
        if (nul)
            return error_set(
                error,
                "%s:%zu: byte %zu of the line is NUL: this is not a text file, the "
                "command file says what it is%s",
                reader->name, reader->line + 1, (size_t)(nul - from) + 1,
                reader->strict ? "" : "; `invalid replace` reads it all the same");
        if (*feed || reader->at_end) return true;
        seen = there;
        if (!read_block(reader, error)) return false;
    }
}

TextResult text_next(TextReader *reader, const char **line, size_t *length, Error *error)
{
    size_t count;
    unsigned char *feed;
    bool found = find_line(reader, &count, &feed, error);
    if ((reader->line == 0 && !check_format(reader, error)) || !found) return TEXT_ERROR;
    if (!feed && count == 0) return TEXT_END;
    unsigned char *from = reader->buffer + reader->begin;
    reader->begin += count + (feed != NULL);
    reader->line++;
    if (!reader->exact && count > 0 && from[count - 1] == '\r') count--;
    from[count] = 0;  // replaces CR or LF, or follows the last block
    if (!reader->exact && reader->line == 1 && count >= 3 &&
        memcmp(from, "\xef\xbb\xbf", 3) == 0)
        from += 3, count -= 3;
    *line = (char *)from;
    *length = count;
    return check_line(reader, line, length, error) ? TEXT_LINE : TEXT_ERROR;
}

bool text_ready(TextReader *reader)
{
    struct pollfd input = {.fd = reader->descriptor, .events = POLLIN};
    while (!reader->unzip && !reader->at_end && reader->end - reader->begin <= BLOCK &&
           !memchr(reader->buffer + reader->begin, '\n', reader->end - reader->begin)) {
        if (poll(&input, 1, 0) != 1) return false;
        if (!read_block(reader, NULL)) return true;  // text_next returns the error
    }
    return true;
}
