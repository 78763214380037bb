/* corpuscheck.h -- what a parallel corpus often has that it should not have: the wrong columns,
 * the same text twice, markup, and sides that have slipped by some lines.
 *
 * Slipped: the lengths of a sentence and of its translation correlate (0.77 to 0.92 in windows of
 * 500 pairs of Multi30k English-German and Tatoeba English-French, -Japanese, -Arabic), and hardly
 * at all with the next line's.
 *
 * Unrelated: in windows of 150 pairs of these the least is 0.65, and of shuffled or sorted ones the
 * most 0.2. */
#pragma once

#include "data/corpus.h"
#include "data/words.h"

typedef enum {
    CHECK_SAME,             // pairs whose sides are equal
    CHECK_NUMBERED,         // pairs whose source is a number, a label (SO-333) or an address
    CHECK_NUMBERED_TARGET,  // whose target is one
    CHECK_TABLE,  // pairs whose source is a row of a table, with a TAB, or "," in quotation marks
    CHECK_TABLE_TARGET,  // whose target is one
    CHECK_COPIES,        // pairs that are there before
    CHECK_ENTITIES,      // pairs with &amp; or another entity
    CHECK_TAGS,          // pairs with <b> or another tag, or one of subtitles, {\an8}
    CHECK_PIECES,        // pairs with marks of subwords: ▁, @@, ￭, ## or Ġ
    CHECK_TOKENISED,     // pairs of which a side ends in " ." or has " , "
    CHECK_QUOTED,        // pairs of which a side begins and ends with "
    CHECK_DOUBLED,       // of these, those with "" inside
    CHECKS
} CorpusCheckKind;

typedef struct CorpusCheck {
    size_t pairs[CHECKS];
    CorpusLine first[CHECKS];  // of these
    bool spreadsheet;          // most sides with a comma are in quotation marks
    int slipped;          // 0; by how many lines the target is behind, or before if below 0
    bool unrelated;       // the lengths of the two sides have nothing to do with each other
    CorpusLine from;      // where that begins
    size_t often[SIDES];  // pairs with the same sentence of a side, if more than a third; or 0
    char sentence[SIDES][64];  // which, cut
    /* set by run_check_text (commands/train/run.h), of a text of several files: */
    int swapped;    // a file whose sides are like the opposite sides of the first; 0: none
    int turned;     // a file, from 1, whose second half is so to its first; 0: none
    bool unspaced;  // spacing_is_unspaced, of the target
} CorpusCheck;

/* tag: a pattern of first words of the source that are left out (corpus_tag); or NULL */
CorpusCheck corpus_check(const CorpusText *text, const char *tag);

Spacing corpus_spacing(const CorpusText *text, CorpusSide side);

/* How many sides of `other` are more like the opposite side of `text`, by the sequences of four bytes
 * that they have. */
int corpus_swapped(const CorpusText *other, const CorpusText *text);
