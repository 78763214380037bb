/* records.c -- tables with a TAB or with commas; see records.h. */
#include "data/records.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 22 };  // bytes of a record of several lines

static bool failed(const Records *r, const char *what, Error *error)
{
    return error_set(error, "%s:%zu: %s", r->reader->name, r->reader->line, what);
}

static bool is_blank(const char *line, size_t length)
{
    return strspn(line, " \t") == length;
}

/* Takes what stands from `begin` to `end` as column number `column`. */
static void take(const Records *r, const char *field[2], size_t length[2], int column,
                 const char *begin, const char *end)
{
    for (int side = 0; side < 2; side++)
        if (r->column[side] == column)
            field[side] = begin, length[side] = (size_t)(end - begin);
}

/* Returns the number of columns. */
static int split_tabs(const Records *r, const char *field[2], size_t length[2],
                      const char *line, size_t count)
{
    const char *end = line + count;
    for (int column = 1;; column++) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        take(r, field, length, column, line, tab ? tab : end);
        if (!tab) return column;
        line = tab + 1;
    }
}

/* Appends a line to the record in the buffer, after a space if it is not the first. */
static bool append(Records *r, size_t *count, const char *line, size_t length, Error *error)
{
    if (*count + length > LONGEST) return failed(r, "the record is too long", error);
    if (!GROW(r->buffer, r->size, *count + length + 2))
        return error_memory(error, "for a record");
    if (*count) r->buffer[(*count)++] = ' ';
    memcpy(r->buffer + *count, line, length + 1);
    *count += length;
    return true;
}

/* Splits the record in the buffer, in place. Returns the number of columns; 0: a field has no end. */
static int split_quotes(Records *r, const char *field[2], size_t length[2])
{
    char *from = r->buffer, *to = from;
    for (int column = 1;; column++) {
        const char *begin = to;
        bool quoted = *from == '"';
        for (from += quoted; *from && (quoted || *from != r->delimiter);) {
            if (quoted && *from == '"' && *++from != '"') quoted = false;
            else *to++ = *from++;
        }
        if (quoted) return 0;
        take(r, field, length, column, begin, to);
        if (!*from++) return column;
    }
}

/* CSV: reads on while a field in quotation marks has no end. */
static TextResult read_quotes(Records *r, const char *field[2], size_t length[2],
                              const char *line, size_t count, int *columns, Error *error)
{
    size_t all = 0, marks = 0, number = r->reader->line;
    for (;;) {
        for (size_t i = 0; i < count; i++) marks += line[i] == '"';
        if (!append(r, &all, line, count, error)) return TEXT_ERROR;
        if (marks % 2 == 0) break;
        TextResult result = text_next(r->reader, &line, &count, error);
        if (result == TEXT_ERROR) return result;
        if (result == TEXT_END)
            return error_set(error,
                             "%s:%zu: a quotation mark that opens a field has no partner",
                             r->reader->name, number),
                   TEXT_ERROR;
    }
    *columns = split_quotes(r, field, length);
    if (*columns) return TEXT_LINE;
    failed(r, "a quotation mark that opens a field has no partner", error);
    return TEXT_ERROR;
}

TextResult records_next(Records *r, const char *field[2], size_t length[2], Error *error)
{
    const char *line;
    size_t count;
    if (r->tmx) return tmx_next(r->tmx, field, length, error);
    TextResult result = text_next(r->reader, &line, &count, error);
    if (result != TEXT_LINE) return result;
    if (!r->delimiter && text_is_xml(line)) {
        r->tmx = tmx_open(r->reader, line, count, r->column);
        return r->tmx ? tmx_next(r->tmx, field, length, error)
                      : (error_memory(error, "for a reader of XML"), TEXT_ERROR);
    }
    if (!r->delimiter)
        r->delimiter = memchr(line, '\t', count)                  ? '\t'
                       : memchr(line, ';', count)                 ? ';'
                       : memchr(line, ',', count) || *line == '"' ? ','
                                                                  : '\t';
    int columns, most = r->column[0] > r->column[1] ? r->column[0] : r->column[1];
    for (int side = 0; side < 2; side++) field[side] = line + count, length[side] = 0;
    if (is_blank(line, count)) return TEXT_LINE;
    if (r->delimiter == '\t') columns = split_tabs(r, field, length, line, count);
    else if (read_quotes(r, field, length, line, count, &columns, error) == TEXT_ERROR)
        return TEXT_ERROR;
    if (columns >= most) return TEXT_LINE;
    if (columns == 1 && r->delimiter == '\t')
        failed(r, "there is no TAB: a line is source TAB target", error);
    else
        error_set(error, "%s:%zu: the line has %d column%s: `columns` names number %d",
                  r->reader->name, r->reader->line, columns, columns > 1 ? "s" : "", most);
    return TEXT_ERROR;
}

void records_free(Records *r)
{
    free(r->buffer);
    tmx_close(r->tmx);
    *r = (Records){0};
}
