/* corpusreader.c -- reads a corpus; see corpusreader.h. */
#include "data/corpusreader.h"

#include "base/grow.h"
#include "data/records.h"
#include "data/text.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(const char *line, size_t length)
{
    return strspn(line, " \t") >= length;
}

/* Adds a pair to the text unless a side of it is blank. */
static bool read_pair(CorpusText *text, CorpusReport *report, const char *const line[SIDES],
                      const size_t length[SIDES], CorpusLine where, Error *error)
{
    report->read++;
    bool source = is_blank(line[SOURCE], length[SOURCE]);
    bool target = is_blank(line[TARGET], length[TARGET]);
    if (!source && !target) return corpus_add(text, line, length, where, error);
    corpus_skip(report,
                source && target ? EMPTY_BOTH
                : source         ? EMPTY_SOURCE
                                 : EMPTY_TARGET,
                where);
    return true;
}

/* Whether the first line of a file can be one of sentences. */
static bool check_first(const TextReader *reader, const char *line, size_t length, Error *error)
{
    if (text_is_xml(line))
        return error_set(error,
                         "%s is XML: of a TMX, which has both sides, give the one file as "
                         "`train-tsv` or `valid-tsv`",
                         reader->name);
    return !memchr(line, '\r', length) ||
           error_set(
               error,
               "%s:1: the line has a carriage return inside: if all lines end in one, give "
               "<(tr '\\r' '\\n' <'%s') in its place",
               reader->name, reader->name);
}

/* Reads the pairs of two files, or of the records of the source file. The longer of two files is
 * read to its end, to count its lines. */
static bool read_lines(CorpusText *text, CorpusReport *report, TextReader reader[SIDES],
                       Records *records, int file, Error *error)
{
    const char *line[SIDES];
    size_t length[SIDES];
    for (;;) {
        TextResult result[SIDES];
        if (records)
            result[SOURCE] = result[TARGET] = records_next(records, line, length, error);
        for (int side = 0; !records && side < SIDES; side++)
            result[side] = text_next(&reader[side], &line[side], &length[side], error);
        if (result[SOURCE] == TEXT_ERROR || result[TARGET] == TEXT_ERROR) return false;
        if (result[SOURCE] == TEXT_END && result[TARGET] == TEXT_END) break;
        if (result[SOURCE] != result[TARGET]) continue;
        CorpusLine where = {.file = (unsigned)file, .line = reader[SOURCE].line};
        for (int side = 0; side < SIDES; side++)
            if (where.line == 1 &&
                !check_first(&reader[records ? SOURCE : side], line[side], length[side], error))
                return false;
        if (!read_pair(text, report, line, length, where, error)) return false;
    }
    if (records || reader[SOURCE].line == reader[TARGET].line) return true;
    return error_set(error, "%s has %zu lines but %s has %zu: they must match line by line",
                     reader[SOURCE].name, reader[SOURCE].line, reader[TARGET].name,
                     reader[TARGET].line);
}

static bool read_file(CorpusText *text, CorpusReport *report, const CorpusFiles *files, int n,
                      Error *error)
{
    const CorpusFile *file = &files->file[n];
    bool columns = !file->target;
    TextReader reader[SIDES] = {0};
    Records records = {.reader = reader,
                       .column = {files->column[SOURCE] ? files->column[SOURCE] : 1,
                                  files->column[TARGET] ? files->column[TARGET] : 2}};
    bool good = text_open(&reader[SOURCE], file->source, error) &&
                (columns || text_open(&reader[TARGET], file->target, error));
    for (int side = 0; side < SIDES; side++)
        reader[side].replace = files->invalid == TEXT_REPLACE;
    good = good && read_lines(text, report, reader, columns ? &records : NULL, n, error);
    records_free(&records);
    for (int side = 0; side < SIDES; side++) {
        report->replaced += reader[side].replaced;
        text_close(&reader[side]);
    }
    return good;
}

bool corpus_read(CorpusText *text, CorpusReport *report, const CorpusFiles *files, Error *error)
{
    *text = (CorpusText){0};
    *report = (CorpusReport){0};
    assert(files->count > 0);
    bool good = files->count <= CORPUS_MAX_FILES ||
                error_set(error, "a corpus has at most %d files", CORPUS_MAX_FILES);
    for (int n = 0; good && n < files->count; n++)
        good = read_file(text, report, files, n, error);
    if (good && text->pairs == 0)
        good = error_set(error,
                         report->read == 0 ? "%s is empty: there is nothing to learn from"
                                           : "%s has no pair with text on both sides",
                         files->file[0].source);
    if (!good) corpus_text_free(text);
    report->kept = text->pairs;
    return good;
}

static bool add_tag(StringList *tags, const char *tag, const char *pattern, Error *error)
{
    for (int i = 0; i < tags->count; i++)
        if (!strcmp(tags->item[i], tag)) return true;
    if (!tokenizer_may_be_tag(tag, strlen(tag)))
        return error_set(error,
                         "'%.40s' matches the tags '%s', but a tag begins and ends with "
                         "punctuation of ASCII, has something between, and no comma",
                         tag, pattern);
    return tags->count < CORPUS_MAX_TAGS
               ? strings_add(tags, tag, error)
               : error_set(error, "more than %d different words match the tags '%s'",
                           CORPUS_MAX_TAGS, pattern);
}

bool corpus_tags(StringList *tags, const CorpusText *text, const char *pattern, Error *error)
{
    bool good = true;
    for (size_t i = 0; good && i < text->pairs; i++) {
        size_t length;
        const char *line = corpus_sentence(text, SOURCE, i, &length);
        const char *space = memchr(line, ' ', length);
        char *word = strndup(line, space ? (size_t)(space - line) : length);
        good = word ? fnmatch(pattern, word, 0) || add_tag(tags, word, pattern, error)
                    : error_memory(error, "for the tags of a text");
        free(word);
    }
    return good;
}

bool corpus_repeat(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                   Error *error)
{
    size_t pairs = text->pairs, wanted = pairs, bytes[SIDES] = {0};
    for (size_t i = 0; i < pairs; i++) {
        int copies = files->file[text->line[i].file].times - 1;
        for (int side = 0; side < SIDES && copies > 0; side++)
            bytes[side] += (size_t)copies * (text->start[side][i + 1] - text->start[side][i]);
        if (copies > 0) wanted += (size_t)copies;
    }
    for (int side = 0; side < SIDES; side++)  // before the copies, whose origin must not move
        if (!GROW(text->bytes[side], text->bytes_size[side],
                  text->start[side][pairs] + bytes[side]))
            return error_memory(error, "for copies of pairs");
    for (size_t i = 0; i < pairs; i++)
        for (int k = 1; k < files->file[text->line[i].file].times; k++) {
            const char *line[SIDES];
            size_t length[SIDES];
            for (int s = 0; s < SIDES; s++) line[s] = corpus_sentence(text, s, i, &length[s]);
            if (!corpus_add(text, line, length, text->line[i], error)) return false;
        }
    report->repeated = wanted - pairs;
    report->kept = text->pairs;
    return true;
}
