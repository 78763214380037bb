/* vocabulary.h -- the tokens of a corpus: one vocabulary for both sides, or one for each.
 *
 *   joint       one SentencePiece model, learned from both sides: names, numbers and words of
 *               common origin are the same tokens on both
 *   separate    two, each learned from its side: for languages that share no letters
 *
 * Checkpoints store the bytes of the models; vocabulary_load makes the tokenizers from them. */
#pragma once

#include "data/corpus.h"
#include "data/tokenizer.h"

typedef struct Vocabulary {
    unsigned char *model[SIDES];  // model[SOURCE] is NULL if joint
    size_t size[SIDES];           // bytes
    Tokenizer *tokenizer[SIDES];  // the same one twice if joint
} Vocabulary;

/* The next three functions set the bytes only: call vocabulary_load afterwards. Call
 * vocabulary_free even if one of these four fails. */

/* Learns from text: one for both sides, or one for each. */
bool vocabulary_learn(Vocabulary *vocabulary, const CorpusText *text,
                      const TokenizerSettings *settings, bool joint, Error *error);

/* Reads SentencePiece models from files, by tokenizer_adopt. path[SOURCE] is NULL for a joint
 * vocabulary. */
bool vocabulary_read(Vocabulary *vocabulary, const char *const path[SIDES], Error *error);

/* Copies the bytes of models. model[SOURCE] is NULL for a joint vocabulary. */
bool vocabulary_copy(Vocabulary *vocabulary, const void *const model[SIDES],
                     const size_t size[SIDES], Error *error);

/* Makes the tokenizers from the bytes. */
bool vocabulary_load(Vocabulary *vocabulary, Error *error);

bool vocabulary_is_joint(const Vocabulary *vocabulary);

/* The bytes of a side's model. */
const unsigned char *vocabulary_model(const Vocabulary *vocabulary, CorpusSide side,
                                      size_t *size);

/* The id of <ph1> on both sides (tokenizer_placeholder), or 0. */
int vocabulary_placeholder(const Vocabulary *vocabulary);

/* Whether an id means the same word in both. */
bool vocabulary_equal(const Vocabulary *a, const Vocabulary *b);

void vocabulary_free(Vocabulary *vocabulary);
