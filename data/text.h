/* text.h -- lines of UTF-8 text from a file, plain or .gz, or from standard input ("-").
 *
 * A line ends at LF, at CR LF, or at the end of the text; its end is not part of it. A byte
 * order mark at the start is skipped. Every line must be strict UTF-8 (base/utf8.c) without a NUL
 * byte, of TEXT_MAX_LINE bytes or little more. For other compressed files, archives, UTF-16 and
 * UTF-32, the error names the command that converts them. */
#pragma once

#include "base/error.h"
#include "data/encoding.h"

#define TEXT_MAX_LINE       ((size_t)1 << 30)
#define TEXT_STANDARD_INPUT "standard input"  // the name of "-" in errors

typedef enum { TEXT_STOP, TEXT_REPLACE } TextInvalid;  // what is done about an invalid line
extern const char *const text_invalid_names[];         // "stop", "replace", NULL

typedef struct TextReader {
    const char *name;         // in errors: the caller's path, or TEXT_STANDARD_INPUT
    int descriptor;           // or -1
    struct TextUnzip *unzip;  // of a compressed file; or NULL
    size_t line;              // the line that was read last, from 1
    unsigned char *buffer;
    size_t size, begin, end;  // allocated; buffer[begin..end) is not yet returned
    bool at_end;              // nothing more to read
    bool exact;       // the caller sets it: CR and the byte order mark stay in the lines
    bool replace;     // the caller sets it: text_replace for an invalid line, not an error
    bool strict;      // the caller sets it: no option reads invalid lines, and errors name none
    size_t replaced;  // lines for which that was done
    char encoding[ENCODING_NAME];  // of the first of them, by encoding_guess; or ""
    char *valid;                   // the last of them
    size_t valid_size;             // allocated
} TextReader;

typedef enum { TEXT_LINE, TEXT_END, TEXT_ERROR } TextResult;

/* Opens a file, or standard input for "-". The path must stay where it is until text_close. */
bool text_open(TextReader *reader, const char *path, Error *error);

/* The next line, as soon as it is written to a pipe or typed. *line is valid until the next call
 * and followed by a NUL byte that *length does not count. After TEXT_ERROR, also by file_stop
 * (base/file.h), call only text_close. */
TextResult text_next(TextReader *reader, const char **line, size_t *length, Error *error);

/* Puts U+FFFD in place of each NUL byte and each byte that is no part of a character. The line is
 * valid until the next call of this or text_next. */
bool text_replace(TextReader *reader, const char **line, size_t *length, Error *error);

/* Whether text_next can return without waiting. Reads the bytes that are available; the last line is
 * no longer valid. */
bool text_ready(TextReader *reader);

void text_close(TextReader *reader);  // allowed on a zeroed or closed reader

/* The first two columns of a line, which end at a mark, such as a TAB: *length becomes that of the first
 * one. Without a mark it returns false, and the second one is empty. */
bool text_columns(const char *line, size_t *length, const char *mark, const char **second,
                  size_t *second_length);

/* Whether a line, or a part of one, is of blanks and TABs only. */
static inline bool text_is_blank(const char *line, size_t length)
{
    return strspn(line, " \t") >= length;
}
