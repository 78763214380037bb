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

typedef struct Tokens {
    const Tokenizer *tokenizer;
    const int *id;               // [count] of the sentence
    const char *const *unknown;  // [count] as Snapshot.unknown
    int count;
    int pad;  // 1 of TOKENS_READ, which has <pad> before id[0], and not the last id; else 0
} Tokens;

Tokens tokens_of(const Snapshot *snapshot, const Vocabulary *vocabulary, TokenSide side);
int tokens_id(const Tokens *tokens, int place);

/* *found (=) the index of a word among labels [count], where it may be only once, or the position from
 * 1 that it is. A word that is none of them is found in any case, and without the dot that stands before
 * what goes on with a word. False with *found >= 0: it is there more than once, or takes several labels. */
bool labels_find(int *found, const char *const *label, int count, const char *word,
                 Error *error);

typedef struct Labels {
    char *sentence;  // all of it; NULL of TOKENS_READ
    char **text;     // [count]
    bool *special;   // [count] </s> or <pad>
    bool *unknown;   // [count] not in the vocabulary; text is what <unk> stands for, if known
    float *probability;  // [count] of the translation's tokens, multiplied; NaN: not known
    int *word;  // [tokens] the index in text of each token's label: non-decreasing, from 0
    int count;
} Labels;

/* What one label stands for. */
typedef enum {
    LABELS_TOKENS,      // a token; a byte that is a character (<0x21>) as that
    LABELS_CHARACTERS,  // a token, or all byte tokens (<0xE3>) of one character
    LABELS_WORDS        // the tokens from one space to the next
} LabelsUnit;

/* labels (=) those of each side. Call labels_free even if it fails. */
bool labels_make(Labels labels[TOKEN_SIDES], const Snapshot *snapshot,
                 const Vocabulary *vocabulary, LabelsUnit unit, Error *error);
void labels_free(Labels labels[TOKEN_SIDES]);
