/* tokenizer.h -- text to ids and back: a C interface to Google's SentencePiece (Kudo and
 * Richardson 2018, arXiv 1808.06226).
 *
 *   id      0       1       2 .. V-2               V-1
 *   piece   </s>    <unk>   the model's pieces     <pad>
 *
 * <pad> is added here; SentencePiece knows V-1 pieces. The model's bytes contain all
 * preprocessing: normalisation, for the word type also how text is split at punctuation and
 * joined again. So training and use cannot differ.
 *
 *   type      a token is
 *   unigram   a subword, by the unigram language model of Kudo 2018
 *   bpe       a subword, by byte pair encoding
 *   char      a character
 *   word      a word or a punctuation mark: "l'école ?" is l' · école · ?
 *             In decoded text, . and , are joined to the word before, and a word to the
 *             apostrophe before it; ? ! : ; have a space before them ("musique ?") in every
 *             language.
 *
 * A vocabulary may reserve placeholders "<ph1>" … "<ph8>": each is one token wherever it is in a
 * text. The space before one is a token of its own ("▁"), so that spaces come back as they were. With
 * the type word a placeholder is a word: "a<ph1>b" comes back as "a <ph1> b".
 *
 * A tag, such as ">>fra<<", is one token at the beginning of a text. It is a user-defined piece that
 * begins and ends with punctuation of ASCII; of a model that another program numbers, an unused ">>…<<".
 *
 * No function throws, prints or ends the program. Threads may encode and decode with one
 * Tokenizer at the same time. */
#pragma once

#include "base/error.h"
#include "base/grow.h"
#include "base/options.h"

#define TOKENIZER_SPACE "\xe2\x96\x81"  // U+2581

typedef struct Tokenizer Tokenizer;

typedef enum { TOKENIZER_UNIGRAM, TOKENIZER_BPE, TOKENIZER_WORD, TOKENIZER_CHAR } TokenizerType;

enum {
    TOKENIZER_TYPES = 4,
    PLACEHOLDERS = 8,
    /* Bytes of a text that are read. SentencePiece takes time that grows with the square of the length of an
     * unknown word: 0.05 s for so many. */
    TOKENIZER_MAX_TEXT = 1 << 16,
    TOKENIZER_SENTENCES = 1000000,  // most sentences to learn from, spread evenly over the text
};

typedef struct TokenizerSettings {
    TokenizerType type;
    int vocab_size;      // V with </s>, <unk> and <pad>; the result may be smaller
    double coverage;     // share of the characters that get a piece, 0.98 to 1; 0: by default
    int normalization;   // an index into tokenizer_normalizations
    bool lowercase;      // nmt_nfkc becomes nmt_nfkc_cf, and so on
    bool byte_fallback;  // unigram, bpe: spell an unknown character in bytes, 256 more pieces
    bool placeholders;   // reserve <ph1> … <ph8>
    const StringList *tags;  // pieces for the beginning of a text; or NULL
} TokenizerSettings;

/* Sentences to learn from, without anything between them: sentence i is bytes start[i] .. start[i+1]-1. */
typedef struct Sentences {
    size_t count;
    const char *bytes;
    const size_t *start;  // [count+1]
} Sentences;

/* A growing list of ids, {0} when empty; free(ids.id). */
typedef struct Ids {
    int32_t *id;
    size_t count, size;
} Ids;

/* Appends an id, and to `begin`, unless that is NULL, `at`. false: not enough memory. */
static inline bool ids_push(Ids *ids, Ids *begin, int32_t id, size_t at)
{
    if (!GROW(ids->id, ids->size, ids->count + 1)) return false;
    ids->id[ids->count++] = id;
    return !begin || ids_push(begin, NULL, (int32_t)at, 0);
}

extern const char *const tokenizer_type_names[];      // "unigram", …, NULL
extern const char *const tokenizer_normalizations[];  // "nmt_nfkc", …, NULL
enum { NORMALIZATION_IDENTITY = 4, NORMALIZATION_TEXT };

/* Learns a model from text [texts], each of as many sentences. By default all characters get a piece with
 * the types word and char and, if the vocabulary is large enough, all that occur 5 times with unigram
 * and bpe. *model [*size] is malloc'ed bytes for tokenizer_load, the same for the same sentences and
 * settings. Learning runs in a child process, for which the caller waits: a signal handler does not
 * interrupt that. */
bool tokenizer_train(unsigned char **model, size_t *size, const Sentences *text, int texts,
                     const TokenizerSettings *settings, Error *error);

/* What tokenizer_extend has added. */
typedef struct TokenizerExtension {
    int pieces, characters;  // with the last ids before <pad>; so many of them are characters
    size_t before, after;    // tokens of the sentences without them and with them
    Ids parts;               // of each the ids of the tokens that it was before, and </s>
} TokenizerExtension;

/* Adds pieces for text [texts] to a model of subwords: at most `most`. *model [*size] is malloc'ed and
 * is replaced. The other ids stay, but for <pad>. Free done->parts.id. */
bool tokenizer_extend(unsigned char **model, size_t *size, TokenizerExtension *done,
                      const Sentences *text, int texts, int most, Error *error);

/* Rewrites a model that was made elsewhere, with its pieces in the order above, without control
 * pieces other than </s>. *adopted [*size] is malloc'ed bytes for tokenizer_load; a model that is as
 * tokenizer_train makes it keeps its bytes. The tokens of a text stay the same, but for their ids.
 *
 * piece [count] or NULL: the pieces by their ids, with </s>, <unk> and <pad> as 0, 1 and count-1.
 * Of these, pieces that the model lacks are no tokens of a text, except a ">>fra<<" at its
 * beginning. Pieces that only the model has become <unk>. */
bool tokenizer_adopt(unsigned char **adopted, size_t *adopted_size, const void *model,
                     size_t size, const char *const *piece, int count, Error *error);

/* The handler is called where SentencePiece gets no memory, in any thread. It must end the program,
 * since SentencePiece goes on with broken objects (0.1.97). */
void tokenizer_on_no_memory(void (*handler)(void));

/* NULL if the bytes, which may be untrusted, are no model whose first pieces are </s> and <unk>. */
Tokenizer *tokenizer_load(const void *model, size_t size, Error *error);
void tokenizer_free(Tokenizer *tokenizer);

int tokenizer_vocab_size(const Tokenizer *tokenizer);  // V
TokenizerType tokenizer_type(const Tokenizer *tokenizer);

/* The id of <ph1>; those of <ph2> … <ph8> follow. 0: the vocabulary has no placeholders. */
int tokenizer_placeholder(const Tokenizer *tokenizer);

/* The id of <0x00>; those of the other bytes follow. 0: the vocabulary has no bytes, or in another
 * order. */
int tokenizer_first_byte(const Tokenizer *tokenizer);

/* The length of the tag that a text begins with, such as ">>fra<<", and that is one token; or 0. */
bool tokenizer_may_be_tag(const char *word, size_t length);
size_t tokenizer_tag(const Tokenizer *tokenizer, const char *text, size_t length);
bool tokenizer_is_tag(const Tokenizer *tokenizer, int id);

/* How many bytes of a text are read: all, or whole characters of at most TOKENIZER_MAX_TEXT bytes. */
static inline size_t tokenizer_length(const char *text, size_t length)
{
    if (length <= TOKENIZER_MAX_TEXT) return length;
    for (length = TOKENIZER_MAX_TEXT; length && (text[length] & 0xC0) == 0x80;) length--;
    return length;
}

/* Appends the ids of text, as far as tokenizer_length, to ids, without </s>; each unknown word is one
 * token. Unless begin is NULL, appends to it for each token the index of its first byte in text, counting
 * a space before the token as part of it. */
bool tokenizer_encode_begins(const Tokenizer *tokenizer, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error);

static inline bool tokenizer_encode(const Tokenizer *tokenizer, Ids *ids, const char *text,
                                    size_t length, Error *error)
{
    return tokenizer_encode_begins(tokenizer, ids, NULL, text, length, error);
}

/* The pieces of a text with a space between each two, for free(); NULL after an error. The tokenizer is
 * a Tokenizer: BLEU, which calls this, knows none. */
char *tokenizer_split(const void *tokenizer, const char *text, Error *error);

/* *text = the text of count ids, malloc'ed, ended by NUL. </s> and <pad> give no text, <unk>
 * gives "⁇". The text is valid UTF-8 with nothing below U+0020. An id outside 0..V-1 is an error.
 *
 * replacement [count], or NULL: texts in the place of tokens other than </s> and <pad>, as they are,
 * byte for byte; NULL: the token's own. The space before a token that begins a word stays, except
 * if its replacement is empty. <unk> begins a word if its replacement begins with a space, and with the
 * type word. */
bool tokenizer_decode_replaced(const Tokenizer *tokenizer, char **text, const int32_t *id,
                               size_t count, const char *const *replacement, Error *error);

static inline bool tokenizer_decode(const Tokenizer *tokenizer, char **text, const int32_t *id,
                                    size_t count, Error *error)
{
    return tokenizer_decode_replaced(tokenizer, text, id, count, NULL, error);
}

/* *normal (=) what a text becomes as tokens and back, in the normal form of the model, for free(); NULL if
 * the tokenizer does not know a character of it. */
bool tokenizer_normal_form(const Tokenizer *tokenizer, char **normal, const char *text,
                           size_t length, Error *error);

/* The piece of an id from 0 to V-1, "▁école": U+2581 stands for the space before. It belongs to the
 * tokenizer. */
const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id);

/* Whether the piece begins a word (starts with U+2581). */
static inline bool tokenizer_begins_word(const Tokenizer *tokenizer, int32_t id)
{
    return !strncmp(tokenizer_piece(tokenizer, id), TOKENIZER_SPACE, strlen(TOKENIZER_SPACE));
}

/* The piece for pictures and tables: without U+2581, and with "·" before it if it goes on with a word,
 * in a script that puts spaces between words: "photograp", "·her"; not before single characters (TOKENIZER_CHAR).
 * It belongs to the tokenizer. */
const char *tokenizer_shown(const Tokenizer *tokenizer, int32_t id);

/* The piece without U+2581: "école"; U+2581 alone stays "▁". */
static inline const char *tokenizer_label(const Tokenizer *tokenizer, int32_t id)
{
    const char *piece = tokenizer_piece(tokenizer, id);
    const char *rest = piece + strlen(TOKENIZER_SPACE);
    return tokenizer_begins_word(tokenizer, id) && *rest ? rest : piece;
}

/* The byte that the token stands for, "<0xE3>"; -1 if it stands for more. */
static inline int tokenizer_byte(const Tokenizer *tokenizer, int32_t id)
{
    unsigned byte;
    const char *piece = tokenizer_piece(tokenizer, id);
    return strlen(piece) == 6 && sscanf(piece, "<0x%2x>", &byte) == 1 ? (int)byte : -1;
}

/* The bytes of the punctuation mark that a text begins with and that the type word splits off, or 0. */
size_t tokenizer_mark(const char *text);
