/* vocabulary.h -- the tokens of a corpus: one vocabulary for both sides, or one for each.
 *
 *   joint       one SentencePiece model, learned from both sides' text: names, numbers and words of
 *               a common origin are the same tokens on both sides
 *   separate    two, each learned from its side's text: for languages that share no letters
 *
 * The bytes are what checkpoints keep; the tokenizers are made of them. */
#ifndef DATA_VOCABULARY_H
#define DATA_VOCABULARY_H

#include "data/corpus.h"
#include "data/tokenizer.h"

typedef struct Vocabulary {
    unsigned char *model[SIDES];  // model[SOURCE] is NULL if it is joint
    size_t size[SIDES];           // bytes
    Tokenizer *tokenizer[SIDES];  // the same one twice if it is joint
} Vocabulary;

/* Learns from text; settings[SOURCE] is NULL for a joint one. Only the bytes are there then. */
bool vocabulary_learn(Vocabulary *vocabulary, const CorpusText *text,
                      const TokenizerSettings *const settings[SIDES], Error *error);

/* Reads SentencePiece models, one for both sides or one each, and lays their pieces out as ours
 * (tokenizer_adopt). path[SOURCE] is NULL for a joint one. Only the bytes are there then. */
bool vocabulary_read(Vocabulary *vocabulary, const char *const path[SIDES], Error *error);

/* Copies the bytes of models; model[SOURCE] is NULL for a joint one. */
bool vocabulary_copy(Vocabulary *vocabulary, const void *const model[SIDES],
                     const size_t size[SIDES], Error *error);

/* Makes the tokenizers of the bytes. */
bool vocabulary_load(Vocabulary *vocabulary, Error *error);

bool vocabulary_is_joint(const Vocabulary *vocabulary);

/* The bytes of a side's model. */
const unsigned char *vocabulary_model(const Vocabulary *vocabulary, CorpusSide side,
                                      size_t *size);

void vocabulary_free(Vocabulary *vocabulary);

#endif
