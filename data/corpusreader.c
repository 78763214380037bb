/* corpusreader.c -- reads a corpus; see corpusreader.h. */
#include "data/corpusreader.h"

#include <fnmatch.h>

/* Whether a file of one line, which the last pair is from, has no other ends of lines in it. */
static bool check_one_line(const CorpusText *text, const char *name, Error *error)
{
    static const struct {
        const char *bytes, *name, *pattern;
    } END[] = {{"\xe2\x80\xa8", "U+2028", "\\xe2\\x80\\xa8"},
               {"\xc2\x85", "U+0085", "\\xc2\\x85"}};
    for (int i = 0; i < 2; i++) {
        CorpusSentence line = corpus_sentence(text, TARGET, text->pairs - 1);
        if (memmem(line.text, line.length, END[i].bytes, strlen(END[i].bytes)))
            return error_set(error,
                             "%s has one line: the lines seem to end in %s: give <(sed "
                             "'s/%s/\\n/g' '%s') in its place",
                             name, END[i].name, END[i].pattern, name);
    }
    return true;
}

/* Adds those of a file to report->columns, unless they are there. */
static void note_columns(CorpusReport *report, const Records *records)
{
    char columns[TMX_DESCRIPTION];
    const int *column = records->file->column;
    size_t used = strlen(report->columns);
    if (records->tmx) tmx_describe(columns, records->tmx);
    else if (records->columns > 2)
        snprintf(columns, sizeof columns, "source %d, target %d, of %d", column[SOURCE],
                 column[TARGET], records->columns);
    else return;
    if (!strstr(report->columns, columns))
        snprintf(report->columns + used, sizeof report->columns - used, "%s%s",
                 used ? "; " : "", columns);
}

static bool read_file(CorpusText *text, CorpusReport *report, const CorpusFiles *files, int n,
                      Error *error)
{
    const CorpusFile *file = &files->file[n];
    Records records;
    TextReader *reader = records.reader;
    TextResult result = TEXT_END;
    size_t before = text->pairs;
    bool good = records_open(&records, file, error);
    while (good && (result = records_next(&records, error)) == TEXT_LINE) {
        CorpusLine where = {.file = (unsigned)n, .line = reader[SOURCE].line};
        bool source = text_is_blank(records.field[SOURCE], records.length[SOURCE]),
             target = text_is_blank(records.field[TARGET], records.length[TARGET]);
        report->read++;
        if (source || target)
            corpus_skip(report, records.tmx ? LACKS_LANGUAGE : corpus_empty(source, target),
                        where);
        else if (file->languages && !records.tmx && !file->target)
            good = error_set(error, "`columns` names languages, but %s is no TMX: give numbers",
                             file->source);
        else good = corpus_add(text, records.field, records.length, where, error);
    }
    if (good && result == TEXT_END && text->pairs > before && reader[SOURCE].line == 1 &&
        !records.tmx)
        good = check_one_line(text, file->source, error);
    if (good && result == TEXT_END) note_columns(report, &records);
    for (int side = 0; side < SIDES; side++) report->replaced += reader[side].replaced;
    records_close(&records);
    good = good && result == TEXT_END;
    if (!good && file->replay) error_prefix(error, "the text of '%s'", file->replay);
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
        good = error_set(error, "%s %s%s%s%s", files->file[0].source,
                         report->read == 0 ? "is empty: there is nothing to learn from"
                                           : "has no pair with text on both sides",
                         *report->columns ? ": " : "", report->columns,
                         *report->columns ? " (`columns` names others)" : "");
    if (!good) corpus_text_free(text);
    report->kept = text->pairs;
    return good;
}

size_t corpus_tag(const char *line, size_t length, const char *pattern)
{
    char word[256];
    const char *space = memchr(line, ' ', length);
    size_t size = space ? (size_t)(space - line) : length;
    if (!size || size >= sizeof word || (!strchr("*?[\\", *pattern) && *line != *pattern))
        return 0;
    memcpy(word, line, size);
    word[size] = 0;
    return fnmatch(pattern, word, 0) ? 0 : size;
}

static bool add_tag(StringList *tags, size_t *times, const char *tag, const char *pattern,
                    Error *error)
{
    int i = 0;
    while (i < tags->count && strcmp(tags->item[i], tag)) i++;
    if (i < tags->count) return times[i]++, true;
    if (!tokenizer_may_be_tag(tag, strlen(tag)))
        return error_set(error,
                         "'%.40s' matches the tags '%s', but a tag begins and ends with "
                         "punctuation of ASCII, has something between, and no comma",
                         tag, pattern);
    if (i == CORPUS_MAX_TAGS)
        return error_set(error, "more than %d different words match the tags '%s'",
                         CORPUS_MAX_TAGS, pattern);
    return times[i] = 1, strings_add(tags, tag, error);
}

/* The length of a tag that a first word begins with, without a space after it; or 0. */
static size_t tag_without_space(const char *line, size_t length, const char *pattern)
{
    const char *space = memchr(line, ' ', length);
    for (size_t n = space ? (size_t)(space - line) : length; n > 2; n--)
        if (tokenizer_may_be_tag(line, n) && corpus_tag(line, n, pattern)) return n;
    return 0;
}

bool corpus_tags(StringList *tags, size_t *times, const CorpusText *text,
                 const CorpusFiles *files, const char *pattern, Error *error)
{
    for (size_t i = 0; i < text->pairs; i++) {
        char tag[256];
        CorpusSentence line = corpus_sentence(text, SOURCE, i);
        size_t size = corpus_tag(line.text, line.length, pattern);
        int without = size ? 0 : (int)tag_without_space(line.text, line.length, pattern);
        if (without)
            return error_set(error, "%s:%llu: there is no space after the tag '%.*s'",
                             files->file[text->line[i].file].source,
                             (unsigned long long)text->line[i].line, without, line.text);
        snprintf(tag, sizeof tag, "%.*s", (int)size, line.text);
        if (size && !add_tag(tags, times, tag, pattern, error)) return false;
    }
    return true;
}

bool corpus_repeat(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                   Error *error)
{
    size_t pairs = text->pairs;
    for (size_t i = 0; i < pairs; i++)
        for (int k = 1; k < files->file[text->line[i].file].times; k++)
            if (!corpus_copy(text, text, i, error)) return false;
    report->repeated = text->pairs - pairs;
    report->kept = text->pairs;
    return true;
}
