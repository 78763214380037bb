/* corpusreader.h -- the text of a corpus from its files. */
#pragma once

#include "base/options.h"
#include "data/corpus.h"
#include "data/records.h"

typedef struct CorpusFiles {
    CorpusFile *file;  // [count]
    int count;
} CorpusFiles;

/* Reads one or more files. Fails if two files that go together have different numbers of lines, or
 * if no pair is left. */
bool corpus_read(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                 Error *error);

/* The length of a line's first word, if it matches a pattern (fnmatch) of tags; or 0. */
size_t corpus_tag(const char *line, size_t length, const char *pattern);

/* Adds the first words of source sentences that match a pattern, each once; times [CORPUS_MAX_TAGS] (+=)
 * how often each occurs. Fails if they cannot be tags (data/tokenizer.h), or are more than
 * CORPUS_MAX_TAGS; or where there is no space after one. */
enum { CORPUS_MAX_TAGS = 1000 };
bool corpus_tags(StringList *tags, size_t *times, const CorpusText *text,
                 const CorpusFiles *files, const char *pattern, Error *error);

/* Adds copies of the pairs of each file, so that they are there as often as its `times` says. */
bool corpus_repeat(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                   Error *error);
