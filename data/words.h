/* words.h -- which word each token is a part of. A word is what stands between spaces or tabs;
 * words are counted from 0. */
#ifndef DATA_WORDS_H
#define DATA_WORDS_H

#include "data/tokenizer.h"

/* word [tokens] (=) for the first `tokens` of the tokens that the text is cut into, which has as
 * many or more; *words (=) how many words the text has. Whatever the tokenizer does to the text,
 * the words are those of the text as it stands: "work?" is one, be it one token or two. */
bool words_of_text(int *word, int *words, const Tokenizer *tokenizer, const char *text,
                   size_t length, int tokens, Error *error);

/* The same for tokens that were produced, and the text that tokenizer_decode makes of them. */
bool words_of_ids(int *word, int *words, const Tokenizer *tokenizer, const int *id, int tokens,
                  Error *error);

#endif
