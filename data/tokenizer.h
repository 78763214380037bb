/* tokenizer.h -- text to ids and back: a C face for Google's SentencePiece (Kudo and Richardson
 * 2018, arXiv 1808.06226).
 *
 *   id      0       1       2 .. V-2               V-1
 *   piece   </s>    <unk>   the model's pieces     <pad>
 *
 * <pad> is not one of SentencePiece's pieces but ours: V is one more than it knows. All
 * preprocessing (normalisation, the breaks around punctuation of the word type, gluing on the way
 * back) is in the model's bytes, so training and use cannot differ.
 *
 *   type      a token is
 *   unigram   a subword, by the unigram language model of Kudo 2018
 *   bpe       a subword, by byte pair encoding
 *   char      a character
 *   word      a word or a punctuation mark: "l'école ?" is l' · école · ?  The space before
 *             ? ! : ; stays in what is decoded ("musique ?"), as a vocabulary of whole words
 *             cannot know where it belongs; . and , are glued to the word before, and what
 *             follows an apostrophe to the apostrophe.
 *
 * No call throws, prints or ends the program. Encoding and decoding with one Tokenizer from many
 * threads at once is fine. */
#ifndef DATA_TOKENIZER_H
#define DATA_TOKENIZER_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Tokenizer Tokenizer;

typedef enum { TOKENIZER_UNIGRAM, TOKENIZER_BPE, TOKENIZER_WORD, TOKENIZER_CHAR } TokenizerType;

enum {
    TOKENIZER_TYPES = 4,
    TOKENIZER_MAX_TEXT = 1 << 24,   // bytes of one text to encode
    TOKENIZER_SENTENCES = 1000000,  // most sentences to learn from, taken evenly
};

typedef struct TokenizerSettings {
    TokenizerType type;
    int vocab_size;   // V to aim at, </s>, <unk> and <pad> included; V may come out smaller
    double coverage;  // share of the characters that get a piece, 0.98 to 1; 0: by type
    const char
        *normalization;  // nmt_nfkc (NULL means it), nfkc, nmt_nfkc_cf, nfkc_cf, identity
    bool lowercase;      // nmt_nfkc becomes nmt_nfkc_cf, nfkc becomes nfkc_cf
    bool byte_fallback;  // unigram, bpe: spell an unknown character in bytes, 256 more pieces
} TokenizerSettings;

/* Sentences to learn from: any number of them, the i-th by a function. */
typedef struct Sentences {
    size_t count;
    const char *(*at)(const void *context, size_t i, size_t *length);
    const void *context;
} Sentences;

/* A growing list of ids, {0} when empty; free(ids.id). */
typedef struct Ids {
    int32_t *id;
    size_t count, size;
} Ids;

const char *tokenizer_type_name(TokenizerType type);  // "unigram"

/* Learns a model: *model [*size] is malloc'ed bytes for tokenizer_load. The same sentences and
 * settings give the same bytes, with the same version of the library. The learning runs in a child
 * process, because the library ends its process when an inner check fails; until it is done, a
 * signal's default action is the way to stop it. */
bool tokenizer_train(unsigned char **model, size_t *size, const Sentences *sentences,
                     const TokenizerSettings *settings, Error *error);

/* A model that was made elsewhere, with its pieces in our order: </s>, <unk>, then the others as
 * they come; control pieces other than </s>, which no text gives, are left out. *adopted [*size]
 * is malloc'ed bytes for tokenizer_load. The cut of a text is the same, but for the numbers. */
bool tokenizer_adopt(unsigned char **adopted, size_t *adopted_size, const void *model,
                     size_t size, Error *error);

/* NULL, with a sentence, if the bytes are not a model, or one whose first two pieces are not
 * </s> and <unk>. The bytes may come from anywhere: all of them are checked. */
Tokenizer *tokenizer_load(const void *model, size_t size, Error *error);
void tokenizer_free(Tokenizer *tokenizer);

int tokenizer_vocab_size(const Tokenizer *tokenizer);  // V
TokenizerType tokenizer_type(const Tokenizer *tokenizer);

/* Appends the ids of text to ids, without </s>. The most probable segmentation, always the same. */
bool tokenizer_encode(const Tokenizer *tokenizer, Ids *ids, const char *text, size_t length,
                      Error *error);

/* Appends, for each token that tokenizer_encode gives, the byte of text that it begins at, a space
 * before it included. */
bool tokenizer_begins(const Tokenizer *tokenizer, Ids *begin, const char *text, size_t length,
                      Error *error);

/* *text = the text of count ids, malloc'ed, ending in NUL; </s> and <pad> are silent, <unk> is
 * "⁇". Valid UTF-8 with nothing below U+0020, whatever the ids; an id outside 0..V-1 is an
 * error. */
bool tokenizer_decode(const Tokenizer *tokenizer, char **text, const int32_t *id, size_t count,
                      Error *error);

/* The same, where <unk> in place i is the text unknown[i], with the space before it if it begins a
 * word. unknown [count]: NULL where it is "⁇" all the same. */
bool tokenizer_decode_unknown(const Tokenizer *tokenizer, char **text, const int32_t *id,
                              size_t count, const char *const *unknown, Error *error);

/* An id's piece as SentencePiece has it, "▁école": U+2581 stands for the space before.
 * Belongs to the tokenizer. Asking for an id outside 0..V-1 is a bug in the caller (assert). */
const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id);

/* Whether the piece begins a word (starts with U+2581). */
bool tokenizer_begins_word(const Tokenizer *tokenizer, int32_t id);

/* The piece without U+2581, for pictures and tables: "école"; a lone U+2581 stays "▁".
 * Points into tokenizer_piece. */
const char *tokenizer_label(const Tokenizer *tokenizer, int32_t id);

#ifdef __cplusplus
}
#endif

#endif
