/* text.h -- lines of UTF-8 text from a file, plain or .gz, or from standard input.
 *
 * A line ends at LF, at CR LF, or at the end of the text; its end is not part of it. A byte order
 * mark at the start is skipped. Every line is checked: strict UTF-8 (RFC 3629: no overlong form,
 * no surrogate, nothing above U+10FFFF), no NUL byte, at most TEXT_MAX_LINE bytes. Errors name the
 * text and the line:
 *
 *     data/a.de:17: not valid UTF-8 (byte 5 of the line is 0xff): convert the file, for example
 *     with iconv */
#ifndef DATA_TEXT_H
#define DATA_TEXT_H

#include "base/error.h"

#include <stddef.h>

#define TEXT_MAX_LINE ((size_t)1 << 30)

typedef struct TextReader {
    char *name;      // for sentences: the path, or "standard input"
    void *gz;        // the open file (zlib's gzFile), or NULL for a descriptor
    int descriptor;  // or -1; not closed by text_close
    size_t line;     // number of the line that was read last, from 1
    unsigned char *buffer;
    size_t size, begin, end;  // allocated; buffer[begin..end) is read but not handed out
    bool at_end;              // nothing more to read
} TextReader;

typedef enum { TEXT_LINE, TEXT_END, TEXT_ERROR } TextResult;

/* Opens a file; its first bytes, not its name, say whether it is compressed. */
bool text_open(TextReader *reader, const char *path, Error *error);

/* Reads from an open descriptor, which stays the caller's. A line is handed out as soon as it is
 * there, so a pipe or a terminal can be answered line by line. Not decompressed. */
bool text_open_descriptor(TextReader *reader, int descriptor, const char *name, Error *error);

/* The next line: *line is valid until the next call, followed by a NUL byte that *length does not
 * count. TEXT_END when there is none; TEXT_ERROR with a sentence, after which only text_close
 * makes sense. */
TextResult text_next(TextReader *reader, const char **line, size_t *length, Error *error);

/* Whether text_next can answer without waiting for more bytes to come: a whole line is there, or
 * the end. Reads what a descriptor has to give. (A line that is already longer than a block counts as
 * there: it is text_next that must refuse what never ends.) */
bool text_ready(TextReader *reader);

void text_close(TextReader *reader);  // fine on a zeroed or closed reader

/* Whether bytes[0..length) is valid UTF-8; if not, *bad (if given) is the first byte that cannot
 * be: the lead of a sequence that is cut off, or the byte that does not fit. */
bool text_is_utf8(const char *bytes, size_t length, size_t *bad);

/* Bytes of the first character of a valid text that is not empty. */
size_t text_character(const char *text, size_t length);

#endif
