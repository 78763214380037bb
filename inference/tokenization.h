/* tokenization.h -- where BLEU puts the boundaries between words.
 *
 * This is a property of the score, not of the model: data/ has the tokenizer the network reads
 * with. BLEU counts words, so two figures compare only if the same rules made the words; the
 * rules are named in the score's signature (Post 2018, arXiv 1804.08771). */
#ifndef INFERENCE_TOKENIZATION_H
#define INFERENCE_TOKENIZATION_H

#include "inference/codepoints.h"

typedef enum {
    TOKENIZATION_13A,   // the rules of WMT: ASCII punctuation; the default
    TOKENIZATION_NONE,  // words are what white space separates
    TOKENIZATION_CHAR,  // every character that is no white space is a word
    TOKENIZATION_INTL,  // the punctuation and the symbols of all scripts
} Tokenization;

/* By Tokenization: "13a", "none", "char", "intl"; behind them NULL. */
extern const char *const tokenization_names[];

/* Puts white space around what is to be a word of its own, after which the words are what white
 * space separates. How much of it stands between, before or behind them is left open. Fails if
 * memory is short; the text may then be partly treated. */
bool tokenization_apply(Codepoints *text, Tokenization tokenization, Error *error);

#endif
