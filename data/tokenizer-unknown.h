/* tokenizer-unknown.h -- the tokens of words that a tokenizer does not know. */
#pragma once

#include "data/tokenizer.h"

/* Appends an unknown token for each word of text[place .. end-1], of which a tokenizer has made one piece, and
 * where each begins, unless `begin` is NULL. A word begins at the first blank after the last word.
 * joined: the piece goes on with the token before. false: not enough memory. */
bool unknown_push(Ids *ids, Ids *begin, const char *text, size_t place, size_t end,
                  bool joined);
