/* words.h -- the word that each token is part of. Words are separated by spaces or tabs and
 * counted from 0. */
#ifndef DATA_WORDS_H
#define DATA_WORDS_H

#include "data/tokenizer.h"

static inline bool is_space_or_tab(char c)
{
    return c == ' ' || c == '\t';
}

/* word [tokens] (=) the word of each of the text's first `tokens` tokens. The text must have at
 * least that many tokens. *words (=) the number of words. The words are those of the text as it
 * is given, whatever the tokenizer does to it: "work?" is one word, whether it is one token or
 * two. */
bool words_of_text(int *word, int *words, const Tokenizer *tokenizer, const char *text,
                   size_t length, int tokens, Error *error);

/* The same for the text that tokenizer_decode returns for these tokens. */
bool words_of_ids(int *word, int *words, const Tokenizer *tokenizer, const int *id, int tokens,
                  Error *error);

#endif
