/* sentencepiece.c -- the bytes of a SentencePiece model, read without trusting them.
 *
 * A model is a protocol buffer message (sentencepiece_model.proto). What is looked at:
 *
 *     1  piece, any number    1  its text   3  its type (PieceType)
 *     2  trainer_spec         3  model_type (PiecesKind)
 *     3  normalizer_spec      2  precompiled_charsmap (charsmap.c)
 *     5  denormalizer_spec    2  precompiled_charsmap
 *
 * The library's matcher of user-defined pieces has room for 64 matches at one place of a text and
 * does not look whether there are more: of which a model with more is refused. */
#include "data/sentencepiece.h"

#include "data/charsmap.h"
#include "data/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PIECE = 1 << 16,  // bytes
    MAX_NESTED = 64,      // user-defined pieces of which one begins with another
};

enum { PIECE = 1, TRAINER = 2, NORMALIZER = 3, DENORMALIZER = 5 };  // fields of a model
enum { PIECE_TEXT = 1, PIECE_TYPE = 3 };                            // of a piece
enum { MODEL_TYPE = 3 };                                            // of a trainer_spec
enum { CHARSMAP = 2 };                                              // of a normaliser

/* One piece; false if it is not a message, or its type is none that there is. */
static bool piece_read(Piece *piece, Bytes bytes)
{
    *piece = (Piece){.text = "", .type = PIECE_NORMAL};
    for (Field field; bytes.count > 0;) {
        if (!protobuf_field(&bytes, &field)) return false;
        if (field.number == PIECE_TEXT && field.bytes.at) {
            piece->text = (const char *)field.bytes.at;
            piece->length = field.bytes.count;
        } else if (field.number == PIECE_TYPE) {
            if (field.value < PIECE_NORMAL || field.value > PIECE_BYTE) return false;
            piece->type = (PieceType)field.value;
        }
    }
    return true;
}

static bool piece_check(Bytes bytes, size_t number, Error *error)
{
    Piece piece;
    if (!piece_read(&piece, bytes)) return error_set(error, "piece %zu is broken", number);
    if (piece.length > 0 && piece.length <= MAX_PIECE && !memchr(piece.text, 0, piece.length) &&
        text_is_utf8(piece.text, piece.length, NULL)) {
        return true;
    }
    return error_set(error, "piece %zu is not text", number);
}

static bool spec_check(Bytes spec, Error *error)
{
    for (Field field; spec.count > 0;) {
        if (!protobuf_field(&spec, &field)) return error_set(error, "it is damaged");
        if (field.number == CHARSMAP && !charsmap_check(field.bytes, error)) return false;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const Piece *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Whether no text begins with more than MAX_NESTED user-defined pieces. In the order of their
 * texts, those that a piece begins with are a stack below it. */
static bool nesting_check(Piece *piece, size_t count, Error *error)
{
    const Piece *stack[MAX_NESTED];
    int depth = 0;
    qsort(piece, count, sizeof *piece, by_text);
    for (size_t i = 0; i < count; i++) {
        while (depth > 0 &&
               (stack[depth - 1]->length > piece[i].length ||
                memcmp(stack[depth - 1]->text, piece[i].text, stack[depth - 1]->length) != 0)) {
            depth--;
        }
        if (depth == MAX_NESTED) {
            return error_set(error,
                             "more than %d of its user-defined pieces begin with one "
                             "another",
                             MAX_NESTED);
        }
        stack[depth++] = &piece[i];
    }
    return true;
}

static bool user_defined_check(const void *model, size_t size, Error *error)
{
    Pieces pieces;
    if (!pieces_read(&pieces, model, size, error)) return false;
    size_t count = 0;
    for (int i = 0; i < pieces.count; i++) {
        if (pieces.piece[i].type == PIECE_USER_DEFINED) pieces.piece[count++] = pieces.piece[i];
    }
    bool good = nesting_check(pieces.piece, count, error);
    pieces_free(&pieces);
    return good;
}

bool sentencepiece_check(const void *model, size_t size, Error *error)
{
    if (size > SENTENCEPIECE_LIMIT)
        return error_set(error, "it has %zu bytes, more than any has", size);
    Bytes bytes = {model, size};
    size_t pieces = 0;
    for (Field field; bytes.count > 0;) {
        if (!protobuf_field(&bytes, &field)) return error_set(error, "it is damaged");
        bool good = true;
        if (field.number == PIECE) good = piece_check(field.bytes, pieces++, error);
        if (field.number == NORMALIZER || field.number == DENORMALIZER) {
            good = spec_check(field.bytes, error);
        }
        if (!good) return false;
    }
    if (pieces == 0) return error_set(error, "it has no pieces");
    return user_defined_check(model, size, error);
}

static void trainer_read(Pieces *pieces, Bytes spec)
{
    for (Field field; spec.count > 0 && protobuf_field(&spec, &field);) {
        if (field.number == MODEL_TYPE) pieces->kind = (PiecesKind)field.value;
    }
}

bool pieces_read(Pieces *pieces, const void *model, size_t size, Error *error)
{
    *pieces = (Pieces){.kind = PIECES_UNIGRAM};
    Bytes bytes = {model, size};
    size_t count = 0;
    for (Field field; bytes.count > 0 && protobuf_field(&bytes, &field);)
        count += field.number == PIECE;
    pieces->piece = malloc((count ? count : 1) * sizeof *pieces->piece);
    if (!pieces->piece) return error_set(error, "not enough memory for %zu pieces", count);
    bytes = (Bytes){model, size};
    for (Field field; bytes.count > 0 && protobuf_field(&bytes, &field);) {
        if (field.number == TRAINER) trainer_read(pieces, field.bytes);
        if (field.number == PIECE) piece_read(&pieces->piece[pieces->count++], field.bytes);
    }
    return true;
}

void pieces_free(Pieces *pieces)
{
    free(pieces->piece);
    *pieces = (Pieces){0};
}

bool sentencepiece_rules(const void *model, size_t size, void *context,
                         void (*rule)(void *context, const char *from, const char *to),
                         Error *error)
{
    if (!sentencepiece_check(model, size, error)) return false;
    Bytes bytes = {model, size};
    for (Field field; bytes.count > 0 && protobuf_field(&bytes, &field);) {
        if (field.number != NORMALIZER) continue;
        for (Field inner; field.bytes.count > 0 && protobuf_field(&field.bytes, &inner);) {
            if (inner.number != CHARSMAP) continue;
            if (!charsmap_rules(inner.bytes, context, rule, error)) return false;
        }
    }
    return true;
}
