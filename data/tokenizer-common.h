/* tokenizer-common.h -- what SentencePiece's tokenizer (tokenizer.cc) and that of the page
 * (library/web/tokenizer.c) do alike. */
#pragma once

#include "data/sentencepiece.h"
#include "data/tokenizer.h"

/* Appends an unknown token for each word of text[place .. end-1], of which a tokenizer has made one piece, and
 * where each begins, unless `begin` is NULL. A word begins at the first blank after the last word.
 * joined: the piece goes on with the token before. false: not enough memory. */
bool unknown_push(Ids *ids, Ids *begin, const char *text, size_t place, size_t end,
                  bool joined);

/* The id of <ph1> if the eight placeholders are user-defined and follow each other, else 0. */
int pieces_placeholder(const Pieces *pieces);

/* What tokenizer_shown returns for a piece with this label, for free(); NULL: not enough memory. whole: it never
 * goes on with a word. */
char *shown_of(const char *piece, const char *label, bool whole);
