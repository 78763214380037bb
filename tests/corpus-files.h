/* corpus-files.h -- files to read a corpus from, and what came of them, for tests. */
#ifndef TESTS_CORPUS_FILES_H
#define TESTS_CORPUS_FILES_H

#include "base/temporary.h"
#include "data/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[TEMPORARY_SIZE], path[4][TEMPORARY_SIZE + 8];

static inline int setup(void **state)
{
    (void)state;
    if (!temporary_folder(folder, NULL)) return -1;
    for (int i = 0; i < 4; i++) snprintf(path[i], sizeof *path, "%s/%c", folder, 'a' + i);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) unlink(path[i]);
    return rmdir(folder);
}

static inline void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Reads the first `pairs` two files as source and target, the next `tsvs` as TSV. */
static inline bool read_corpus(CorpusText *text, CorpusReport *report, int pairs, int tsvs,
                               Error *error)
{
    const char *const source[] = {path[0], path[2]}, *const target[] = {path[1], path[3]};
    const char *const tsv[] = {path[2 * pairs], path[3]};
    CorpusFiles files = {.sources = pairs,
                         .targets = pairs,
                         .tsvs = tsvs,
                         .source = source,
                         .target = target,
                         .tsv = tsv};
    return corpus_read(text, report, &files, error);
}

static inline void assert_pair(const CorpusText *text, size_t pair, const char *source,
                               const char *target)
{
    const char *const wanted[SIDES] = {source, target};
    for (int side = 0; side < SIDES; side++) {
        size_t length;
        const char *got = corpus_sentence(text, side, pair, &length);
        assert_int_equal(length, strlen(wanted[side]));
        assert_memory_equal(got, wanted[side], length);
    }
}

static inline void assert_lines(const CorpusSkipped *skipped, size_t count, size_t first,
                                size_t second)
{
    assert_int_equal(skipped->count, count);
    if (count > 0) assert_int_equal(skipped->first[0].line, first);
    if (count > 1) assert_int_equal(skipped->first[1].line, second);
}

#endif
