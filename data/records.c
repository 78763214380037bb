/* records.c -- pairs of lines, and tables with a TAB or with commas; see records.h. */
#include "data/records.h"

enum { LONGEST = 1 << 22 };  // bytes of a record of several lines

bool records_open(Records *r, const CorpusFile *file, Error *error)
{
    *r = (Records){.file = file};
    bool good = text_open(&r->reader[0], file->source, error) &&
                (!file->target || text_open(&r->reader[1], file->target, error));
    for (int side = 0; side < 2; side++)
        r->reader[side].replace = file->invalid == TEXT_REPLACE;
    return good;
}

void records_close(Records *r)
{
    for (int side = 0; side < 2; side++) text_close(&r->reader[side]);
    free(r->buffer);
    tmx_close(r->tmx);
}

/* Whether the first line of a text says that it is XML. <tmx may have the prefix of a namespace. */
static bool is_xml(const char *line)
{
    line += strspn(line, " \t");
    const char *name = line + strcspn(line, ": >");
    return !strncmp(line, "<?xml", 5) || !strncmp(line, "<tmx", 4) ||
           !strncasecmp(line, "<!DOCTYPE tmx", 13) ||
           (*line == '<' && !strncmp(name, ":tmx", 4));
}

/* The same for SGML, as the test sets of WMT are. */
static bool is_sgml(const char *line)
{
    return !strncasecmp(line, "<!DOCTYPE", 9) || !strncmp(line, "<doc ", 5) ||
           !strncmp(line, "<srcset ", 8) || !strncmp(line, "<refset ", 8) ||
           !strncmp(line, "<tstset ", 8);
}

/* The same for JSON: an object a line, or an array or an object on several lines. */
static bool is_json(const char *line, const TextReader *reader)
{
    const char *object = line + (*line == '[');
    if (*line && strchr("[{", *line) && !line[1])
        return memmem(reader->buffer, reader->end, "\":", 2);
    return *object == '{' && object[1 + strspn(object + 1, " ")] == '"' && strstr(line, "\":");
}

/* Whether a line can be one of sentences, and whether the first one begins a text. */
static bool check_line(const TextReader *reader, const char *line, size_t length, Error *error)
{
    if ((reader->line == 1 || !reader->replace) && memchr(line, '\r', length))
        return error_set(error,
                         "%s:%zu: the line has a carriage return inside: give <(tr '\\r' '\\n' "
                         "<'%s') in its place if lines end in one, or else <(tr '\\r' ' ' "
                         "<'%s')",
                         reader->name, reader->line, reader->name, reader->name);
    if (reader->line > 1) return true;
    if (is_xml(line))
        return error_set(
            error,
            "%s is XML: of a TMX, which has both sides, give the one file as "
            "`train-tsv` or `valid-tsv`; convert other XML, such as XLIFF, to a TMX or "
            "to text",
            reader->name);
    if (!strncasecmp(line, "<!DOCTYPE html", 14) || !strncasecmp(line, "<html", 5))
        return error_set(error, "%s is a web page: download the file itself, or convert it",
                         reader->name);
    if (is_sgml(line))
        return error_set(error,
                         "%s is SGML: give its lines, <(sed -n "
                         "'s/.*<seg[^>]*>\\(.*\\)<\\/seg>.*/\\1/p' '%s'), in its place",
                         reader->name, reader->name);
    if (memmem(reader->buffer, reader->end, "\nmsgid \"", 8))
        return error_set(error,
                         "%s is a PO file of gettext: po2tmx -l LANGUAGE '%s' NEW.tmx, of the "
                         "Translate Toolkit, makes a TMX for `train-tsv` or `valid-tsv` of it",
                         reader->name, reader->name);
    if (is_json(line, reader) && !memchr(line, '\t', length))
        return error_set(
            error,
            "%s is JSON: give its strings, <(jq -r '.. | objects | [.[] | strings "
            "| gsub(\"[\\t\\n\\r]\"; \" \")] | select(.[0]) | join(\"\\t\")' '%s'), in "
            "its place",
            reader->name, reader->name);
    return true;
}

/* The next line of each of two files. The longer one is read to its end, to count its lines. */
static TextResult next_lines(Records *r, Error *error)
{
    TextReader *reader = r->reader;
    TextResult result[2];
    do {
        for (int side = 0; side < 2; side++) {
            result[side] = text_next(&reader[side], &r->field[side], &r->length[side], error);
            if (result[side] == TEXT_ERROR ||
                (result[side] == TEXT_LINE &&
                 !check_line(&reader[side], r->field[side], r->length[side], error)))
                return TEXT_ERROR;
        }
    } while (result[0] != result[1]);
    if (result[0] == TEXT_LINE || reader[0].line == reader[1].line) return result[0];
    error_set(error, "%s has %zu lines but %s has %zu: they must match line by line",
              reader[0].name, reader[0].line, reader[1].name, reader[1].line);
    return TEXT_ERROR;
}

/* Takes what stands from `begin` to `end` as column number `column`. */
static void take(Records *r, int column, const char *begin, const char *end)
{
    for (int side = 0; side < 2; side++)
        if (r->file->column[side] == column)
            r->field[side] = begin, r->length[side] = (size_t)(end - begin);
}

/* Returns the number of columns. */
static int split_tabs(Records *r, const char *line, size_t count)
{
    const char *end = line + count;
    for (int column = 1;; column++) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        take(r, column, line, tab ? tab : end);
        if (!tab) return column;
        line = tab + 1;
    }
}

static bool broken_field(const TextReader *reader, size_t line, Error *error)
{
    return error_set(error,
                     "%s:%zu: there is no TAB, but a quotation mark without its partner: if "
                     "its field goes on in another line, python3 -c 'import csv,sys; "
                     "[print(*(f.replace(\"\\n\", \" \") for f in r), sep=\"\\t\") for r in "
                     "csv.reader(sys.stdin, \"excel-tab\")]' <OLD >NEW joins them",
                     reader->name, line);
}

/* CSV: a field that begins with a quotation mark ends at the next one, be it on a later line. Returns the
 * number of columns; 0: an error. */
static int split_quotes(Records *r, const char *line, Error *error)
{
    TextReader *reader = r->reader;
    size_t opened = reader->line, count;
    if (!r->buffer && !(r->buffer = malloc(LONGEST + 1)))
        return error_memory(error, "for a record");
    char *to = r->buffer;
    for (int column = 1;; column++) {
        const char *begin = to, *mark = line + strspn(line, " ");
        bool quoted = *mark == '"';
        if (quoted) line = mark + 1, opened = reader->line;
        while (quoted || (*line && *line != r->delimiter)) {
            if (to == r->buffer + LONGEST)
                return error_set(error,
                                 "%s:%zu: the record that begins here is too long: is a "
                                 "quotation mark without its partner?",
                                 reader->name, opened);
            if (quoted && !*line) {
                TextResult result = text_next(reader, &line, &count, error);
                if (result == TEXT_END)
                    error_set(error,
                              "%s:%zu: a quotation mark that opens a field has no partner",
                              reader->name, opened);
                if (result != TEXT_LINE) return 0;
                *to++ = ' ';
            } else if (quoted && *line == '"' && *++line != '"') {
                quoted = false;
                if (r->delimiter == '"')
                    r->delimiter =
                        line[strspn(line, " ")] == ',' || !strchr(line, ';') ? ',' : ';';
                if (to > begin && to[-1] == '\\' && *line && *line != ' ' &&
                    *line != r->delimiter)
                    return error_set(
                        error,
                        "%s:%zu: a mark in quotation marks is \"\", not \\\": perl "
                        "-pe 's/\\\\\"/\"\"/g' <OLD >NEW mends each",
                        reader->name, reader->line);
                if (*line == '\t') return broken_field(reader, opened, error);
            } else {
                *to++ = *line++;
            }
        }
        take(r, column, begin, to);
        if (!*line++) return *to = 0, column;
    }
}

/* Finds the delimiter in the first line; '"': it is what follows the first field, in quotation marks. */
static bool find_delimiter(Records *r, const char *line, size_t count, Error *error)
{
    const char *name = r->reader->name;
    bool tab = memchr(line, '\t', count);
    if (!tab && strstr(line, " ||| "))
        return error_set(error,
                         "%s has ||| between its columns: give <(sed 's/ ||| /\\t/g' '%s') in "
                         "its place",
                         name, name);
    r->delimiter = tab                        ? '\t'
                   : *line == '"'             ? '"'
                   : memchr(line, ';', count) ? ';'
                   : memchr(line, ',', count) ? ','
                                              : '\t';
    return true;
}

/* Whether a line has the columns that are read, and in CSV as many as the first. */
static bool check_columns(Records *r, const char *line, size_t number, int columns,
                          Error *error)
{
    const char *name = r->reader->name;
    const int *column = r->file->column, most = column[0] > column[1] ? column[0] : column[1];
    if (!r->columns) r->columns = columns > 1 ? columns : most;
    if (r->delimiter != '\t' && columns != r->columns)
        return error_set(error,
                         "%s:%zu: the line has %d column%s with '%c' between them, and should "
                         "have %d: put fields in quotation marks, or a TAB between columns; a "
                         "first line such as sep=%c names another delimiter",
                         name, number, columns, columns > 1 ? "s" : "", r->delimiter,
                         r->columns, r->delimiter == ',' ? ';' : ',');
    if (columns >= most) return true;
    bool half = false;
    for (; r->delimiter == '\t' && *line; line++) half ^= *line == '"';
    if (half) return broken_field(r->reader, number, error);
    return columns > 1
               ? error_set(error, "%s:%zu: the line has %d columns: `columns` names number %d",
                           name, number, columns, most)
               : error_set(error, "%s:%zu: there is no TAB: a line is source TAB target", name,
                           number);
}

TextResult records_next(Records *r, Error *error)
{
    const char *line;
    size_t count;
    TextReader *reader = r->reader;
    if (reader[1].name) return next_lines(r, error);
    if (r->tmx) return tmx_next(r->tmx, r->field, r->length, error);
    TextResult result = text_next(reader, &line, &count, error);
    bool anki = reader->line == 1 && result == TEXT_LINE && !strncmp(line, "#separator:", 11);
    while (anki && result == TEXT_LINE && *line == '#' && line[strcspn(line, ":\t")] == ':')
        result = text_next(reader, &line, &count, error);  // lines for Anki only
    if (result != TEXT_LINE) return result;
    for (int side = 0; side < 2; side++) r->field[side] = line + count, r->length[side] = 0;
    if (text_is_blank(line, count)) return TEXT_LINE;
    bool comment = !strncmp(line, "<!--", 4) && !memchr(line, '\t', count);  // before a TMX
    if (!r->delimiter && (comment || is_xml(line))) {
        r->tmx = tmx_open(reader, line, count, r->file->column, r->file->languages);
        return r->tmx ? tmx_next(r->tmx, r->field, r->length, error)
                      : (error_memory(error, "for a reader of XML"), TEXT_ERROR);
    }
    if (!check_line(reader, line, count, error)) return TEXT_ERROR;
    if (!r->delimiter && count == 5 && !strncmp(line, "sep=", 4)) {  // a line for Excel only
        r->delimiter = line[4];
        return records_next(r, error);
    }
    if (!r->delimiter && !find_delimiter(r, line, count, error)) return TEXT_ERROR;
    size_t number = reader->line;
    int columns =
        r->delimiter == '\t' ? split_tabs(r, line, count) : split_quotes(r, line, error);
    return columns && check_columns(r, line, number, columns, error) ? TEXT_LINE : TEXT_ERROR;
}
