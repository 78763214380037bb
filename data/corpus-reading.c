/* corpus-reading.c -- a parallel corpus's text from its files: two that go line by line, or one of
 * source TAB target. */
#include "data/corpus-text.h"

#include "data/text.h"

#include <string.h>

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] != ' ' && line[i] != '\t') return false;
    }
    return true;
}

/* Takes a pair into the text, or counts why not. */
static bool take_pair(Growing *growing, CorpusReport *report, const char *const line[SIDES],
                      const size_t length[SIDES], CorpusLine where, Error *error)
{
    report->read++;
    bool source = is_blank(line[SOURCE], length[SOURCE]);
    bool target = is_blank(line[TARGET], length[TARGET]);
    if (source && target) {
        corpus_skip(&report->empty_both, where);
    } else if (source) {
        corpus_skip(&report->empty_source, where);
    } else if (target) {
        corpus_skip(&report->empty_target, where);
    } else {
        return corpus_text_add(growing, line, length, where, error);
    }
    return true;
}

/* Counts the lines that are left, after the `lines` that were read. */
static bool count_rest(size_t *lines, TextReader *reader, Error *error)
{
    const char *line;
    size_t length;
    TextResult result;
    while ((result = text_next(reader, &line, &length, error)) == TEXT_LINE) (*lines)++;
    return result == TEXT_END;
}

static bool read_two(Growing *growing, CorpusReport *report, TextReader reader[SIDES], int file,
                     Error *error)
{
    const char *line[SIDES];
    size_t length[SIDES], lines[SIDES] = {0, 0};
    for (;;) {
        TextResult result[SIDES];
        for (int side = 0; side < SIDES; side++) {
            result[side] = text_next(&reader[side], &line[side], &length[side], error);
            if (result[side] == TEXT_ERROR) return false;
            lines[side] += result[side] == TEXT_LINE;
        }
        if (result[SOURCE] == TEXT_END && result[TARGET] == TEXT_END) return true;
        if (result[SOURCE] != result[TARGET]) break;
        CorpusLine where = {.file = (unsigned)file, .line = lines[SOURCE]};
        if (!take_pair(growing, report, line, length, where, error)) return false;
    }
    int longer = lines[SOURCE] > lines[TARGET] ? SOURCE : TARGET;
    if (!count_rest(&lines[longer], &reader[longer], error)) return false;
    return error_set(error, "%s has %zu lines but %s has %zu: they must match line by line",
                     reader[SOURCE].name, lines[SOURCE], reader[TARGET].name, lines[TARGET]);
}

static bool read_files(Growing *growing, CorpusReport *report, const char *source,
                       const char *target, int file, Error *error)
{
    TextReader reader[SIDES];
    if (!text_open(&reader[SOURCE], source, error)) return false;
    bool good = text_open(&reader[TARGET], target, error);
    if (good) {
        good = read_two(growing, report, reader, file, error);
        text_close(&reader[TARGET]);
    }
    text_close(&reader[SOURCE]);
    return good;
}

static bool read_tsv(Growing *growing, CorpusReport *report, const char *path, int file,
                     Error *error)
{
    TextReader reader;
    if (!text_open(&reader, path, error)) return false;
    const char *line;
    size_t length;
    TextResult result;
    while ((result = text_next(&reader, &line, &length, error)) == TEXT_LINE) {
        const char *end = line + length, *tab = memchr(line, '\t', length);
        if (!tab && !is_blank(line, length)) {
            error_set(error, "%s:%zu: there is no TAB: a line is source TAB target", path,
                      reader.line);
            result = TEXT_ERROR;
            break;
        }
        const char *target = tab ? tab + 1 : end;
        const char *next = memchr(target, '\t', (size_t)(end - target));
        const char *const text[SIDES] = {line, target};
        const size_t count[SIDES] = {tab ? (size_t)(tab - line) : 0,
                                     (size_t)((next ? next : end) - target)};
        CorpusLine where = {.file = (unsigned)file, .line = reader.line};
        if (!take_pair(growing, report, text, count, where, error)) {
            result = TEXT_ERROR;
            break;
        }
    }
    text_close(&reader);
    return result == TEXT_END;
}

static bool read_all(Growing *growing, CorpusReport *report, const CorpusFiles *files,
                     Error *error)
{
    if (files->sources != files->targets) {
        return error_set(error,
                         "there are %d source files but %d target files: give one target "
                         "for every source",
                         files->sources, files->targets);
    }
    if (files->sources + files->tsvs == 0) return error_set(error, "no corpus was given");
    if (files->sources + files->tsvs > CORPUS_MAX_FILES) {
        return error_set(error, "a corpus has at most %d files", CORPUS_MAX_FILES);
    }
    for (int i = 0; i < files->sources; i++) {
        if (!read_files(growing, report, files->source[i], files->target[i], i, error)) {
            return false;
        }
    }
    for (int i = 0; i < files->tsvs; i++) {
        if (!read_tsv(growing, report, files->tsv[i], files->sources + i, error)) return false;
    }
    if (growing->text->pairs > 0) return true;
    const char *first = files->sources ? files->source[0] : files->tsv[0];
    return report->read == 0
               ? error_set(error, "%s is empty: there is nothing to learn from", first)
               : error_set(error, "%s has no pair with text on both sides", first);
}

bool corpus_read(CorpusText *text, CorpusReport *report, const CorpusFiles *files, Error *error)
{
    *text = (CorpusText){0};
    *report = (CorpusReport){0};
    Growing growing = {.text = text};
    if (!read_all(&growing, report, files, error)) {
        corpus_text_free(text);
        return false;
    }
    corpus_text_shrink(text);
    corpus_text_report(report, text);
    return true;
}
