/* sentencepiece.h -- the bytes of a SentencePiece model, read without trusting them.
 *
 * Every model is checked here before the library sees it, and what the library does not tell of
 * its pieces (their kind) is read here. Fields: sentencepiece.c. */
#ifndef DATA_SENTENCEPIECE_H
#define DATA_SENTENCEPIECE_H

#include "base/error.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,
    PIECE_CONTROL,       // no text ever gives it: </s>
    PIECE_USER_DEFINED,  // always one token, wherever it is in the text
    PIECE_UNUSED,        // merges pass through it, but it is no token
    PIECE_BYTE,          // "<0xE2>": a byte of a character that has no piece
} PieceType;

typedef struct Piece {
    const char *text;  // UTF-8, not ended by NUL; points into the model's bytes
    size_t length;
    PieceType type;
} Piece;

typedef enum { PIECES_UNIGRAM = 1, PIECES_BPE, PIECES_WORD, PIECES_CHAR } PiecesKind;

typedef struct Pieces {
    PiecesKind kind;
    int count;
    Piece *piece;  // [count]; the place of a piece is its id
} Pieces;

enum { SENTENCEPIECE_LIMIT = 1 << 28 };  // bytes of a model; none is larger

/* Whether the library can be given these bytes: they are a model, its pieces are text, and its
 * normalisation tables lead nowhere outside of themselves. */
bool sentencepiece_check(const void *model, size_t size, Error *error);

/* The pieces of a model that sentencepiece_check accepts and that outlives them. */
bool pieces_read(Pieces *pieces, const void *model, size_t size, Error *error);
void pieces_free(Pieces *pieces);

/* Calls rule(context, from, to) for every rule of the normalisation table of a model that
 * sentencepiece_check accepts, in the order of from; both are UTF-8 ended by NUL. */
bool sentencepiece_rules(const void *model, size_t size, void *context,
                         void (*rule)(void *context, const char *from, const char *to),
                         Error *error);

#ifdef __cplusplus
}
#endif

#endif
