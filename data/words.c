/* words.c -- which word each token is a part of; see words.h. */
#include "data/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* How many words begin in text[0..length). */
static int words_in(const char *text, size_t length)
{
    int words = 0;
    for (size_t i = 0; i < length; i++)
        words += !is_space(text[i]) && (i == 0 || is_space(text[i - 1]));
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
        while (at < length && is_space(text[at])) at++;
        int before = words_in(text, at + (at < length));
        word[i] = before > 0 ? before - 1 : 0;
    }
    free(begin.id);
    return good;
}

/* The words of the text so far, token by token: what a token adds stands in the last of them. A
 * mark may join the word before it once it is known what comes next, so none is later than the
 * whole text has. */
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
