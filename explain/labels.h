/* labels.h -- the tokens along the sides of an attention map, and their text. */
#ifndef EXPLAIN_LABELS_H
#define EXPLAIN_LABELS_H

#include "data/vocabulary.h"
#include "inference/snapshot.h"

/* What the rows or columns of a map are. */
typedef enum {
    TOKENS_SOURCE,
    TOKENS_TARGET,  // what the decoder writes
    TOKENS_READ,    // what it has read then: the target shifted right, <pad> first
    TOKEN_SIDES
} TokenSide;

static inline TokenSide labels_rows(AttentionKind kind)
{
    return kind == ATTENTION_ENCODER ? TOKENS_SOURCE : TOKENS_TARGET;
}

static inline TokenSide labels_columns(AttentionKind kind)
{
    return kind == ATTENTION_DECODER ? TOKENS_READ : TOKENS_SOURCE;
}

const Tokenizer *labels_tokenizer(const Vocabulary *vocabulary, TokenSide side);
int labels_tokens(const Snapshot *snapshot, TokenSide side);  // their number
int labels_id(const Snapshot *snapshot, TokenSide side, int place);

typedef struct Labels {
    char **text;    // [count]
    bool *special;  // [count] </s> or <pad>
    int count;      // of tokens; or of words, if tokens are joined
    int *word;      // [tokens] the place in text of each token; starts at 0, never falls
} Labels;

/* The tokens of a side. join: the tokens from one space to the next are one word. labels_free in any
 * case. */
bool labels_make(Labels *labels, const Snapshot *snapshot, const Vocabulary *vocabulary,
                 TokenSide side, bool join, Error *error);

/* Removes the special tokens from text; word is not valid after that. */
void labels_hide(Labels *labels);

void labels_free(Labels *labels);

#endif
