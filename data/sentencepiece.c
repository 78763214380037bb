/* sentencepiece.c -- the bytes of a SentencePiece model, read without trusting them.
 *
 * A model is a protocol buffer message (sentencepiece_model.proto). These fields are read:
 *
 *     1  piece, any number    1  its text   3  its type (PieceType)
 *     2  trainer_spec         3  model_type: 1 unigram, 2 bpe, 3 word, 4 char
 *     3  normalizer_spec      2  precompiled_charsmap (charsmap.c)
 *     5  denormalizer_spec    2  precompiled_charsmap
 *
 * The library's matcher of user-defined pieces has a buffer for 64 matches at one place of a
 * text and does not check for more. A model that can have more is refused. */
#include "data/sentencepiece.h"

#include "base/grow.h"
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
enum { UNIGRAM = 1, CHAR = 4 };                                     // the first and last type
enum { CHARSMAP = 2 };                                              // of a normaliser

static bool read_piece(Pieces *pieces, Bytes message, Error *error)
{
    if (!GROW(pieces->piece, pieces->size, (size_t)pieces->count + 1))
        return error_set(error, "not enough memory for %d pieces", pieces->count);
    Piece *piece = &pieces->piece[pieces->count++];
    *piece = (Piece){.message = message, .type = PIECE_NORMAL};
    for (Field field; message.count > 0;) {
        if (!protobuf_field(&message, &field) ||
            (field.number == PIECE_TYPE &&
             (field.value < PIECE_NORMAL || field.value > PIECE_BYTE)))
            return error_set(error, "piece %d is broken", pieces->count - 1);
        if (field.number == PIECE_TEXT && field.bytes.at) piece->text = field.bytes;
        if (field.number == PIECE_TYPE) piece->type = (PieceType)field.value;
    }
    const char *text = (const char *)piece->text.at;
    size_t length = piece->text.count;
    if (length > 0 && length <= MAX_PIECE && !memchr(text, 0, length) &&
        text_is_utf8(text, length, NULL))
        return true;
    return error_set(error, "piece %d is not text", pieces->count - 1);
}

static bool read_trainer(Pieces *pieces, Bytes spec, Error *error)
{
    for (Field field; spec.count > 0 && protobuf_field(&spec, &field);) {
        if (field.number != MODEL_TYPE) continue;
        if (field.value < UNIGRAM || field.value > CHAR)
            return error_set(error, "it is of an unknown type");
        pieces->model_type = (int)field.value;
    }
    return true;
}

static bool read_normalizer(Bytes spec, void *context, CharsmapRule *rule, Error *error)
{
    for (Field field; spec.count > 0;) {
        if (!protobuf_field(&spec, &field)) return error_set(error, "it is damaged");
        if (field.number == CHARSMAP && !charsmap_read(field.bytes, context, rule, error))
            return false;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const Bytes *x = a, *y = b;
    int order = memcmp(x->at, y->at, x->count < y->count ? x->count : y->count);
    return order ? order : (x->count > y->count) - (x->count < y->count);
}

/* Fails if a text can begin with more than MAX_NESTED user-defined pieces. In the order of
 * their texts, the pieces that a piece begins with are the stack below it. */
static bool check_nesting(const Pieces *pieces, Error *error)
{
    Bytes stack[MAX_NESTED], *text = malloc((size_t)pieces->count * sizeof *text);
    size_t count = 0;
    int depth = 0;
    if (!text) return error_set(error, "not enough memory for %d pieces", pieces->count);
    for (int i = 0; i < pieces->count; i++)
        if (pieces->piece[i].type == PIECE_USER_DEFINED) text[count++] = pieces->piece[i].text;
    qsort(text, count, sizeof *text, by_text);
    for (size_t i = 0; i < count && depth <= MAX_NESTED; i++) {
        while (depth > 0 &&
               (stack[depth - 1].count > text[i].count ||
                memcmp(stack[depth - 1].at, text[i].at, stack[depth - 1].count) != 0))
            depth--;
        if (depth < MAX_NESTED) stack[depth] = text[i];
        depth++;
    }
    free(text);
    return depth <= MAX_NESTED ||
           error_set(error, "more than %d of its user-defined pieces begin with one another",
                     MAX_NESTED);
}

static bool read_field(Pieces *pieces, const Field *field, Error *error)
{
    switch (field->number) {
    case PIECE: return read_piece(pieces, field->bytes, error);
    case TRAINER: return read_trainer(pieces, field->bytes, error);
    case NORMALIZER:
    case DENORMALIZER: return read_normalizer(field->bytes, NULL, NULL, error);
    default: return true;
    }
}

static bool read_model(Pieces *pieces, Bytes model, Error *error)
{
    if (model.count > SENTENCEPIECE_LIMIT)
        return error_set(error, "it has %zu bytes, more than any has", model.count);
    for (Field field; model.count > 0;) {
        if (!protobuf_field(&model, &field)) return error_set(error, "it is damaged");
        if (!read_field(pieces, &field, error)) return false;
    }
    if (pieces->count == 0) return error_set(error, "it has no pieces");
    return check_nesting(pieces, error);
}

bool pieces_read(Pieces *pieces, const void *model, size_t size, Error *error)
{
    *pieces = (Pieces){.model_type = UNIGRAM};
    if (read_model(pieces, (Bytes){model, size}, error)) return true;
    pieces_free(pieces);
    return false;
}

void pieces_free(Pieces *pieces)
{
    free(pieces->piece);
    *pieces = (Pieces){0};
}

bool sentencepiece_rules(const void *model, size_t size, void *context, CharsmapRule *rule,
                         Error *error)
{
    Bytes bytes = {model, size};
    for (Field field; bytes.count > 0;) {
        if (!protobuf_field(&bytes, &field)) return error_set(error, "it is damaged");
        if (field.number == NORMALIZER && !read_normalizer(field.bytes, context, rule, error))
            return false;
    }
    return true;
}
