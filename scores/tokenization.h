/* tokenization.h -- how BLEU splits text into words.
 *
 * It is part of the score, not of the model, whose tokenizer is in data/. BLEU counts words, so
 * two scores compare only if the same rules made the words. The score's signature names the
 * rules (Post 2018, arXiv 1804.08771). */
#pragma once

#include "scores/codepoints.h"

typedef enum {
    TOKENIZATION_13A,   // the rules of WMT: ASCII punctuation; the default
    TOKENIZATION_NONE,  // words are what white space separates
    TOKENIZATION_CHAR,  // every character but white space is a word
    TOKENIZATION_INTL,  // the punctuation and the symbols of all scripts
} Tokenization;

/* Indexed by Tokenization: "13a", "none", "char", "intl"; then NULL. */
extern const char *const tokenization_names[];

/* Adds white space, so that white space separates the words. There may be several spaces
 * between two words, and some at both ends. Fails if memory is short; the text may then be half
 * done. */
bool tokenization_apply(Codepoints *text, Tokenization tokenization, Error *error);
