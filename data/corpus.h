/* corpus.h -- a parallel corpus: first as text, then as ids.
 *
 *   files -- corpus_read --> CorpusText -- corpus_split --> CorpusText, held out
 *                               |  corpus_sentences: to learn the tokenizer from
 *                               +-- corpus_encode --> Corpus
 *
 * Each side is one block of bytes (or ids) and one array of offsets, so ten million pairs take
 * a few allocations. corpus_encode frees the text while it encodes, unless keep_text is set, so
 * text and ids are never both in memory as a whole. */
#pragma once

#include "base/error.h"
#include "base/packed.h"
#include "base/workers.h"
#include "data/tmx.h"
#include "data/tokenizer.h"

typedef enum { SOURCE, TARGET, SIDES } CorpusSide;

/* Where a pair comes from. Files count from 0, lines from 1. */
typedef struct CorpusLine {
    uint64_t file : 16, line : 48;
} CorpusLine;

typedef struct CorpusText {
    size_t pairs;
    char *bytes[SIDES];    // all sentences, without anything between them
    size_t *start[SIDES];  // [pairs+1] sentence i is bytes start[i] .. start[i+1]-1
    CorpusLine *line;      // [pairs] where they come from; moved to the corpus by corpus_encode
    size_t bytes_size[SIDES], start_size[SIDES], line_size;  // allocated, while it grows
} CorpusText;

typedef struct Corpus {
    size_t pairs;
    int32_t *id[SIDES];     // all sentences, each ending in ID_END
    size_t *start[SIDES];   // [pairs+1] sentence i is ids start[i] .. start[i+1]-1
    int vocab_size[SIDES];  // V of each
    CorpusLine *line;       // [pairs] where they come from
} Corpus;

enum { CORPUS_FIRST = 3, CORPUS_MAX_FILES = 1 << 16 };

/* Why a pair is left out. A side is empty if it has no text, only spaces, or no token; in a unit of a
 * TMX that is LACKS_LANGUAGE. */
typedef enum {
    EMPTY_SOURCE,
    EMPTY_TARGET,
    EMPTY_BOTH,
    TOO_LONG,
    LACKS_LANGUAGE,
    SKIP_REASONS
} CorpusSkip;

/* The pairs that were left out for one reason, and the first of them. */
typedef struct CorpusSkipped {
    size_t count;
    CorpusLine first[CORPUS_FIRST];  // [min(count, CORPUS_FIRST)]
} CorpusSkipped;

typedef struct CorpusReport {
    size_t read;      // pairs in the files
    size_t kept;      // pairs in the text, then in the corpus
    size_t replaced;  // lines that were not valid (TEXT_REPLACE)
    size_t held_out;  // pairs that corpus_split moved to another text
    size_t common;    // pairs that it removed: their source sentence was held out
    size_t repeated;  // copies of pairs that corpus_repeat added; kept counts them
    CorpusSkipped skipped[SKIP_REASONS];
    char columns[TMX_DESCRIPTION];  // of tables with more than two, languages of TMX files; ""
    size_t tokens[SIDES];           // of the kept pairs, </s> included
    size_t unknown[SIDES];          // <unk> among them
} CorpusReport;

/* Counts a pair that is left out. */
void corpus_skip(CorpusReport *report, CorpusSkip why, CorpusLine line);

static inline CorpusSkip corpus_empty(bool source, bool target)
{
    return source && target ? EMPTY_BOTH : source ? EMPTY_SOURCE : EMPTY_TARGET;
}

/* Appends a pair. Start with a text of {0}. */
bool corpus_add(CorpusText *text, const char *const line[SIDES], const size_t length[SIDES],
                CorpusLine where, Error *error);

/* Appends a pair of `text`, which may be the same one. */
bool corpus_copy(CorpusText *to, const CorpusText *text, size_t pair, Error *error);

/* Moves `count` pairs, chosen at random by the seed, from text to held_out: of those whose source sentence
 * is there once, or as rarely as gives twice `count` to choose from. The others with the same source
 * sentence leave text, unless they are more than a tenth. Both keep their order. At least one pair must
 * remain. Updates report->kept, held_out and common. */
bool corpus_split(CorpusText *held_out, CorpusText *text, CorpusReport *report, size_t count,
                  uint64_t seed, Error *error);

/* The pairs from number `from` on that are of the same file: a part of the text, which is not to be
 * freed. */
CorpusText corpus_part(const CorpusText *text, size_t from);

/* The sentences of one side, for tokenizer_train. The text must outlive them. */
static inline Sentences corpus_sentences(const CorpusText *text, CorpusSide side)
{
    return (Sentences){text->pairs, text->bytes[side], text->start[side]};
}

/* times [CORPUS_CODES] (+=) how often a side has each character, outside the tokenizer's tags */
enum { CORPUS_CODES = 0x110000 };
void corpus_characters(unsigned *times, const CorpusText *text, CorpusSide side,
                       const Tokenizer *tokenizer);

/* One sentence of the text, valid until it is changed, and not ended by NUL. */
typedef struct CorpusSentence {
    const char *text;
    size_t length;
} CorpusSentence;
CorpusSentence corpus_sentence(const CorpusText *text, CorpusSide side, size_t pair);

/* A hash of a sentence without its white space, after that of others. */
uint64_t corpus_hash(uint64_t hash, CorpusSentence sentence);

/* Text to ids, by each side's tokenizer (both may be the same one), on all threads of workers,
 * or on this thread if workers is NULL. A pair with more than max_length tokens on a side, </s> not
 * counted, or more than TOKENIZER_MAX_TEXT bytes, is left out. With keep_text, pair i of the text is
 * then pair i of the corpus. Without, or on failure, the text is freed. `report` is the one that
 * corpus_read filled. */
bool corpus_encode(Corpus *corpus, CorpusText *text, CorpusReport *report,
                   const Tokenizer *const tokenizer[SIDES], Workers *workers, int max_length,
                   bool keep_text, Error *error);

/* *pairs = the number of pairs of `some` whose source sentence, as ids, is also in `all`. One with an
 * unknown token is not counted, as it may be another sentence. */
bool corpus_overlap(size_t *pairs, const Corpus *some, const Corpus *all, Error *error);

PairIds corpus_pair(const Corpus *corpus, size_t number);

void corpus_text_free(CorpusText *text);
void corpus_free(Corpus *corpus);
