/* words.c -- the word that each token is part of; see words.h. */
#include "data/words.h"

#include <stdlib.h>
#include <string.h>

/* The number of words that begin in text[0..length). */
static int words_in(const char *text, size_t length)
{
    int words = 0;
    for (size_t i = 0; i < length; i++)
        words += !is_space_or_tab(text[i]) && (i == 0 || is_space_or_tab(text[i - 1]));
    return words;
}

bool words_of_text(int *word, int *words, const Tokenizer *tokenizer, const char *text,
                   size_t length, int tokens, Error *error)
{
    Ids begin = {0};
    bool good = tokenizer_begins(tokenizer, &begin, text, length, error);
    *words = words_in(text, length);
    for (int i = 0; i < tokens && good; i++) {
        size_t at = (size_t)begin.id[i];
        while (at < length && is_space_or_tab(text[at])) at++;
        int before = words_in(text, at + (at < length));
        word[i] = before > 0 ? before - 1 : 0;
    }
    free(begin.id);
    return good;
}

/* Decodes the tokens up to each token; the token is part of the last word of that text. A
 * punctuation mark may join the word before it when the next token is known, so the result is
 * limited to the words of the whole text. */
bool words_of_ids(int *word, int *words, const Tokenizer *tokenizer, const int *id, int tokens,
                  Error *error)
{
    *words = 0;
    for (int i = 0; i < tokens; i++) {
        char *text;
        if (!tokenizer_decode(tokenizer, &text, id, (size_t)i + 1, error)) return false;
        *words = words_in(text, strlen(text));
        free(text);
        word[i] = *words > 0 ? *words - 1 : 0;
    }
    for (int i = 0; i < tokens; i++)
        if (word[i] >= *words) word[i] = *words > 0 ? *words - 1 : 0;
    return true;
}
