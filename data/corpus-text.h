/* corpus-text.h -- a corpus's text while it grows; only for data/corpus*.c. */
#ifndef DATA_CORPUS_TEXT_H
#define DATA_CORPUS_TEXT_H

#include "data/corpus.h"

/* A text that grows: how much room its blocks have. */
typedef struct Growing {
    CorpusText *text;
    size_t bytes_room[SIDES], start_room[SIDES], line_room;
} Growing;

bool corpus_text_add(Growing *growing, const char *const line[SIDES],
                     const size_t length[SIDES], CorpusLine where, Error *error);

/* Gives back what growing took beforehand. */
void corpus_text_shrink(CorpusText *text);

/* Moves pair `from` down to place `to` <= from; text->pairs stays, and the pairs behind `from` can
 * still be read. */
void corpus_text_move(CorpusText *text, size_t to, size_t from);

/* How much text was kept. */
void corpus_text_report(CorpusReport *report, const CorpusText *text);

/* Counts a pair that is left out. */
void corpus_skip(CorpusSkipped *skipped, CorpusLine line);

/* "out of memory …"; false. */
bool corpus_no_memory(Error *error);

#endif
