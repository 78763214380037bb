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

/* Whether a piece goes on with a word, in a script that puts spaces between words. */
bool piece_goes_on(const char *piece);
