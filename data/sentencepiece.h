/* sentencepiece.h -- the bytes of a SentencePiece model, read without trusting them.
 *
 * The library trusts the model that it is given. So every model is checked here first. It is a message of
 * protocol buffers (protobuf.dev/programming-guides/encoding):
 *
 *   message   field …
 *   field     varint (number << 3 | wire type), then
 *             type 0: a varint    1: 8 bytes    2: a varint n and n bytes    5: 4 bytes
 *   varint    7 bits a byte, the low ones first; the high bit says that another byte follows
 *
 * Groups (types 3 and 4) are refused: no message of a model has any. */
#pragma once

#include "base/error.h"

typedef struct Bytes {
    const unsigned char *at;
    size_t count;
} Bytes;

typedef struct Field {
    uint32_t number;
    uint64_t value;  // of a varint
    float real;      // of 4 bytes
    Bytes bytes;     // of a string, a byte string or a message; at is NULL for other types
} Field;

/* Reads the next field of a message that is not at its end, and moves `from` past it. A later field
 * replaces an earlier one with the same number, unless it is repeated; messages are merged. */
bool protobuf_field(Bytes *from, Field *field);

/* The fields that are used (sentencepiece_model.proto), of a model, its pieces, both specs of a
 * normalizer, and the trainer_spec. The library encodes the texts of the self-test when it loads a model. */
enum { MODEL_PIECE = 1, MODEL_TRAINER, MODEL_NORMALIZER, MODEL_SELF_TEST, MODEL_DENORMALIZER };
enum { PIECE_TEXT = 1, PIECE_SCORE, PIECE_TYPE };
enum { NORMALIZER_CHARSMAP = 2, NORMALIZER_PREFIX, NORMALIZER_COLLAPSES };
enum { TRAINER_TYPE = 3, BYTE_FALLBACK = 35, EOS_PIECE = 47 };
enum { UNK_ID = 40, BOS_ID, EOS_ID, PAD_ID, UNK_SURFACE };

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

/* What a normalizer's rules make of the beginning of text [length], which a NUL byte follows: *to [*count];
 * returns the bytes that it replaces. */
size_t normalizer_first(const Normalizer *rules, const char **to, size_t *count,
                        const char *text, size_t length);
