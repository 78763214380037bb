/* corpus-text.h -- what data/corpus.c and data/corpus-encoding.c share. */
#pragma once

#include "data/corpus.h"

/* Moves pair `from` to place `to` <= from. text->pairs stays, and the pairs after `from` remain
 * readable. */
void corpus_text_move(CorpusText *text, size_t to, size_t from);

/* Counts a pair that is left out. */
void corpus_skip(CorpusReport *report, CorpusSkip why, CorpusLine line);

bool corpus_no_memory(Error *error);  // sets the error, returns false
