/* corpusreader.h -- the text of a corpus from its files. */
#pragma once

#include "base/options.h"
#include "data/corpus.h"

/* Paths of two files, which go together line by line; or without a target, of one table
 * (data/records.h). */
typedef struct CorpusFile {
    const char *source, *target;
    int times;           // corpus_repeat; 0 is 1
    int invalid;         // a TextInvalid
    int column[SIDES];   // of a table; 0: 1 and 2
    const char *replay;  // the run whose text it was; NULL: none
} CorpusFile;

typedef struct CorpusFiles {
    CorpusFile *file;  // [count]
    int count;
} CorpusFiles;

/* Reads one or more files. Fails if two files that go together have different numbers of lines, or
 * if no pair is left. */
bool corpus_read(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                 Error *error);

/* Adds the first words of source sentences that match a pattern (fnmatch), each once. Fails if they
 * cannot be tags (data/tokenizer.h), or are more than CORPUS_MAX_TAGS. */
enum { CORPUS_MAX_TAGS = 1000 };
bool corpus_tags(StringList *tags, const CorpusText *text, const char *pattern, Error *error);

/* Adds copies of the pairs of each file, so that they are there as often as its `times` says. */
bool corpus_repeat(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                   Error *error);
