/* labels.c -- tokens to what people read; see labels.h. */
#include "explain/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/packed.h"

static int token_at(const Tokenizer *tokenizer, const int *id, int i, bool shifted)
{
    if (!shifted) return id[i];
    return i > 0 ? id[i - 1] : tokenizer_vocab_size(tokenizer) - 1;
}

static bool is_mark(const Tokenizer *tokenizer, int id)
{
    return id == ID_END || id == tokenizer_vocab_size(tokenizer) - 1;
}

/* A token of whole words is a word even where no space is before it. */
static bool begins_word(const Tokenizer *tokenizer, int id, int before)
{
    return is_mark(tokenizer, id) || is_mark(tokenizer, before) ||
           tokenizer_type(tokenizer) == TOKENIZER_WORD || tokenizer_begins_word(tokenizer, id);
}

/* A single token as it is in the vocabulary; several as the text that they are, because half a
 * character's bytes are no text. */
static char *word_text(const Tokenizer *tokenizer, const int *id, int count, Error *error)
{
    char *text = NULL;
    if (count > 1)
        return tokenizer_decode(tokenizer, &text, id, (size_t)count, error) ? text : NULL;
    text = strdup(tokenizer_label(tokenizer, id[0]));
    if (!text) error_set(error, "not enough memory for the words of a picture");
    return text;
}

bool labels_make(Labels *labels, const Tokenizer *tokenizer, const int *id, int count,
                 bool shifted, bool join, Error *error)
{
    size_t n = (size_t)count;
    *labels = (Labels){calloc(n, sizeof *labels->text), calloc(n, sizeof *labels->mark), 0,
                       calloc(n, sizeof *labels->word), count};
    int *token = calloc(n, sizeof *token);
    bool good = (labels->text && labels->mark && labels->word && token) ||
                error_set(error, "not enough memory for the words of a picture");
    for (int i = 0; i < count && good; i++) token[i] = token_at(tokenizer, id, i, shifted);
    for (int first = 0, i = 1; i <= count && good; i++) {
        bool ends = i == count || !join || begins_word(tokenizer, token[i], token[i - 1]);
        labels->word[i - 1] = labels->count;
        if (!ends) continue;
        labels->mark[labels->count] = is_mark(tokenizer, token[first]);
        labels->text[labels->count] = word_text(tokenizer, token + first, i - first, error);
        good = labels->text[labels->count++] != NULL;
        first = i;
    }
    free(token);
    return good;
}

void labels_hide(Labels *labels)
{
    int kept = 0;
    for (int i = 0; i < labels->count; i++) {
        if (labels->mark[i]) {
            free(labels->text[i]);
            continue;
        }
        labels->text[kept] = labels->text[i];
        labels->mark[kept++] = false;
    }
    labels->count = kept;
}

void labels_free(Labels *labels)
{
    for (int i = 0; labels->text && i < labels->count; i++) free(labels->text[i]);
    free(labels->text);
    free(labels->mark);
    free(labels->word);
    *labels = (Labels){0};
}
