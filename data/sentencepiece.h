/* sentencepiece.h -- the bytes of a SentencePiece model, read without trusting them.
 *
 * The library trusts the model that it is given. So every model is checked here first. Fields
 * of the messages: sentencepiece.c. */
#pragma once

#include "base/error.h"
#include "data/protobuf.h"

typedef enum {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,
    PIECE_CONTROL,       // no text contains it: </s>
    PIECE_USER_DEFINED,  // always one token, wherever it is in the text
    PIECE_UNUSED,        // merges pass through it, but it is no token
    PIECE_BYTE,          // "<0xE2>": a byte of a character that has no piece
} PieceType;

typedef struct Piece {
    Bytes message;  // the whole piece; points into the model's bytes
    Bytes text;     // UTF-8, not ended by NUL
    PieceType type;
    float score;
} Piece;

/* How a text is changed before it becomes pieces, or after it was put together of them. */
typedef struct Normalizer {
    Bytes charsmap;  // the table of rules; empty if there is none
    bool prefix;     // a text begins with a space
    bool collapses;  // spaces beside each other become one, and those at both ends none
} Normalizer;

typedef struct Pieces {
    int model_type;  // 1 unigram, 2 bpe, 3 word, 4 char
    int count;
    Piece *piece;  // [count] by id
    size_t size;   // allocated
    Normalizer normalizer, denormalizer;
    bool byte_fallback;     // a character without a piece becomes pieces of its bytes
    Bytes unknown_surface;  // what an unknown token is decoded to
} Pieces;

enum { SENTENCEPIECE_LIMIT = 1 << 28 };  // bytes of a model; none is larger

/* Reads a model's pieces. Fails unless the library can use these bytes, which must outlive the
 * pieces. */
bool pieces_read(Pieces *pieces, const void *model, size_t size, Error *error);
void pieces_free(Pieces *pieces);

typedef void CharsmapRule(void *context, const char *from, const char *to);

/* Calls rule(context, from, to), unless it is NULL, for every rule of a table, both ended by NUL. Fails if
 * an offset leads outside of the table. */
bool charsmap_rules(Bytes charsmap, void *context, CharsmapRule *rule, Error *error);

/* What the longest rule for the beginning of text [length] makes of it, ended by NUL; *replaced (=) the bytes
 * that it replaces. NULL: there is no rule. */
const char *charsmap_longest(Bytes charsmap, size_t *replaced, const char *text, size_t length);

/* What tokenizer_adopt makes of a model, perhaps not yet one that the library can use. For
 * free(out->bytes), also after an error. */
bool pieces_adopt(Message *out, const void *model, size_t size, const char *const *piece,
                  int count, Error *error);
