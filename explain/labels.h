/* labels.h -- the tokens along the sides of an attention map, and their text. */
#pragma once

#include "data/vocabulary.h"
#include "inference/snapshot.h"

/* The tokens that the rows or columns of a map stand for. */
typedef enum {
    TOKENS_SOURCE,
    TOKENS_TARGET,  // the decoder's output
    TOKENS_READ,    // the decoder's input: the target shifted right, <pad> first
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

/* The text that an <unk> stands for, with a space before it if it begins a word; else NULL. */
const char *labels_unknown(const Snapshot *snapshot, TokenSide side, int place);

/* *found (=) the index of a word among labels [count], or the position from 1 that it is. */
bool labels_find(int *found, const char *const *label, int count, const char *word,
                 Error *error);

/* The source or the translation, for free(); NULL on error. */
char *labels_sentence(const Snapshot *snapshot, const Vocabulary *vocabulary, CorpusSide side,
                      Error *error);

typedef struct Labels {
    char **text;    // [count]
    bool *special;  // [count] </s> or <pad>
    bool *unknown;  // [count] not in the vocabulary; text is what <unk> stands for, if known
    float
        *probability;  // [count] in the translation, the product of its tokens'; NaN: not known
    int count;         // of tokens; or of words, if tokens are joined
    int *word;  // [tokens] the index in text of each token's label: non-decreasing, from 0
} Labels;

/* What one label stands for. */
typedef enum {
    LABELS_TOKENS,
    LABELS_CHARACTERS,  // a token, or all byte tokens (<0xE3>) of one character
    LABELS_WORDS        // the tokens from one space to the next
} LabelsUnit;

/* labels (=) the tokens of a side. Call labels_free even if it fails. */
bool labels_make(Labels *labels, const Snapshot *snapshot, const Vocabulary *vocabulary,
                 TokenSide side, LabelsUnit unit, Error *error);

void labels_free(Labels *labels);
