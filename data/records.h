/* records.h -- the source and the target of each line of two files that go together line by line; or of
 * a table: columns with a TAB between them, or CSV (RFC 4180), where a field in quotation marks may hold
 * the delimiter, line breaks, and "" for "; or of each unit of a TMX (data/tmx.h), whose languages are
 * its columns.
 *
 * A table is CSV if its first line has no TAB, but a comma or a semicolon, which is the delimiter, or
 * is Excel's sep=; alone. Its records have as many columns each, blanks before a quotation mark that
 * opens a field do not count, and a line break inside a field becomes a space. */
#pragma once

#include "data/text.h"
#include "data/tmx.h"

/* Paths of two files, which go together line by line; or without a target, of one table. */
typedef struct CorpusFile {
    const char *source, *target;
    int times;              // corpus_repeat; 0 is 1
    int invalid;            // a TextInvalid
    int column[2];          // of source and target in a table, from 1
    const char *languages;  // of a TMX, "en,fr"; NULL: the columns number them
    const char *replay;     // the run whose text it was; NULL: none
} CorpusFile;

typedef struct Records {
    const CorpusFile *file;
    TextReader reader[2];  // of source and target; or the first one, of a table
    char delimiter;        // 0: no line with text is read yet
    int columns;           // of the first record, in CSV of each; 0: none is read yet
    char *buffer;          // of a record of CSV, its fields without quotation marks; or NULL
    Tmx *tmx;              // or NULL
    const char *field[2];  // [length] the last pair, valid until the next one
    size_t length[2];
} Records;

/* Opens what a CorpusFile names, which must stay where it is. Close it even if this fails. */
bool records_open(Records *records, const CorpusFile *file, Error *error);

/* Reads the next pair. Fails where a line has too few columns, or in CSV too many, a quotation mark no
 * partner, or one of two files more lines than the other, and for JSON, SGML and PO. A blank line of a
 * table is a pair of blanks. */
TextResult records_next(Records *records, Error *error);

void records_close(Records *records);
