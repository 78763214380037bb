/* tokenization.h -- how BLEU splits text into words.
 *
 * It is part of the score, not of the model, whose tokenizer is in data/. BLEU counts words, so
 * two scores compare only if the same rules made the words. The score's signature names the
 * rules (Post 2018, arXiv 1804.08771). */
#pragma once

#include "scores/codepoints.h"

typedef enum {
    TOKENIZATION_13A,       // the rules of WMT: ASCII punctuation; the default
    TOKENIZATION_NONE,      // words are what white space separates
    TOKENIZATION_CHAR,      // every character but white space is a word
    TOKENIZATION_INTL,      // the punctuation and the symbols of all scripts
    TOKENIZATION_ZH,        // every Chinese character is a word; the rest as 13a
    TOKENIZATION_JA_MECAB,  // words by MeCab, where it and a dictionary are installed
    TOKENIZATION_KO_MECAB,
    TOKENIZATION_SPM,  // the pieces of a SentencePiece model; the caller makes them
} Tokenization;

/* Indexed by Tokenization: "13a", "none", "char", "intl", "zh", "ja-mecab", "ko-mecab", "spm"; then
 * NULL. */
extern const char *const tokenization_names[];

/* Whether words are what white space and punctuation separate. */
bool tokenization_needs_spaces(Tokenization tokenization);

/* The name, and what sacrebleu adds of MeCab, if it is installed: "ja-mecab-0.996-IPA". */
void tokenization_signature(Tokenization tokenization, char *text, size_t size);

/* A SplitText. context: a Tokenization, but TOKENIZATION_SPM. Fails if memory is short, or MeCab is
 * missing. */
char *tokenization_split(const void *context, const char *text, Error *error);
