/* corpus.h -- a parallel corpus: first as text, then as ids.
 *
 *   files -- corpus_read --> CorpusText -- corpus_split --> CorpusText, held out
 *                               |  learn the tokenizer from corpus_sentences
 *                               +-- corpus_encode --> Corpus
 *
 * Each side is one block of bytes (or ids) and one array of offsets, so ten million pairs are a
 * handful of allocations. corpus_encode frees a side of the text once its ids are there, unless
 * asked to keep it, so text and ids are never both whole in memory. */
#ifndef DATA_CORPUS_H
#define DATA_CORPUS_H

#include "base/error.h"
#include "base/workers.h"
#include "data/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

typedef enum { SOURCE, TARGET, SIDES } CorpusSide;

/* Where a pair comes from: line 1.. of the file-th source or TSV file as given, from 0. */
typedef struct CorpusLine {
    uint64_t file : 16, line : 48;
} CorpusLine;

typedef struct CorpusText {
    size_t pairs;
    char *bytes[SIDES];    // all sentences, one behind the other
    size_t *start[SIDES];  // [pairs+1] sentence i is bytes start[i] .. start[i+1]-1
    CorpusLine *line;      // [pairs]
} CorpusText;

typedef struct Corpus {
    size_t pairs;
    int32_t *id[SIDES];     // all sentences, each ending in ID_END
    size_t *start[SIDES];   // [pairs+1] sentence i is ids start[i] .. start[i+1]-1
    int vocab_size[SIDES];  // V of each
    CorpusLine *line;       // [pairs] where they come from
} Corpus;

enum { CORPUS_FIRST = 3, CORPUS_MAX_FILES = 1 << 16 };

/* Pairs that were left out for one reason, and the first of them. */
typedef struct CorpusSkipped {
    size_t count;
    CorpusLine first[CORPUS_FIRST];  // [min(count, CORPUS_FIRST)]
} CorpusSkipped;

typedef struct CorpusReport {
    size_t read;                 // pairs in the files
    size_t kept;                 // pairs in the corpus (or the text, before it is encoded)
    size_t held_out;             // pairs that corpus_split took away
    CorpusSkipped empty_source;  // an empty line on this side, or nothing but spaces
    CorpusSkipped empty_target;
    CorpusSkipped empty_both;
    CorpusSkipped too_long;  // more than max_length tokens on a side
    size_t bytes[SIDES];     // of the kept text
    size_t tokens[SIDES];    // of the kept pairs, </s> included
    size_t unknown[SIDES];   // of these, <unk>
} CorpusReport;

/* source[i] goes with target[i]; or one file of source TAB target (further columns are ignored). */
typedef struct CorpusFiles {
    int sources, targets, tsvs;
    const char *const *source;
    const char *const *target;
    const char *const *tsv;
} CorpusFiles;

/* Reads all files, the pairs of source and target first, then the TSV files. Files that do not
 * match line by line, and a corpus in which no pair is left, are errors. */
bool corpus_read(CorpusText *text, CorpusReport *report, const CorpusFiles *files,
                 Error *error);

/* Moves `count` pairs, chosen at random by the seed, from text to held_out; both keep their
 * order. At least one pair must be left. report->kept, held_out and bytes follow. */
bool corpus_split(CorpusText *held_out, CorpusText *text, CorpusReport *report, size_t count,
                  uint64_t seed, Error *error);

/* All sources, then all targets, for tokenizer_train; text must outlive it. */
Sentences corpus_sentences(const CorpusText *text);

/* One side's, for a tokenizer of its own. */
Sentences corpus_side_sentences(const CorpusText *text, CorpusSide side);

/* One sentence of the text, not ended by NUL. */
const char *corpus_sentence(const CorpusText *text, CorpusSide side, size_t pair,
                            size_t *length);

/* Text to ids, each side by its tokenizer, which may be the same, on all threads of workers (NULL:
 * this one); how many there are changes nothing. A pair with more than max_length tokens on a side,
 * </s> not counted, is left out.
 * keep_text: text keeps exactly the pairs of the corpus, pair i there being pair i here (for
 * references); otherwise it is freed on the way and is empty afterwards. report may be the one
 * corpus_read filled. On failure text is freed too. */
bool corpus_encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *const tokenizer[SIDES], Workers *workers, int max_length,
                   bool keep_text, Error *error);

/* How many pairs of `some` have a source sentence, as ids, that is one of `all`, too. */
bool corpus_overlap(size_t *pairs, const Corpus *some, const Corpus *all, Error *error);

void corpus_text_free(CorpusText *text);
void corpus_free(Corpus *corpus);

#endif
