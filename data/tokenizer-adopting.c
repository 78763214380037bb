/* tokenizer-adopting.c -- rewrites a SentencePiece model that was made elsewhere, with its
 * pieces in the order of this program.
 *
 * SentencePiece's default order is <unk> 0, <s> 1, </s> 2. Here it is </s> 0, <unk> 1, as in
 * MarianMT. Rewriting the model once, instead of mapping ids at every use, keeps all models in
 * checkpoints of one kind. The tokens of a text depend on the texts and scores of the pieces,
 * not on their order. Fields of the messages: sentencepiece.c, and of a trainer_spec
 *
 *     40  unk_id    41  bos_id    42  eos_id    43  pad_id    44  unk_surface    47  eos_piece
 *
 * which repeat what the pieces say and are set to agree with them. */
#include "base/packed.h"
#include "data/protobuf.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1, TRAINER = 2 };                                            // fields of a model
enum { PIECE_TEXT = 1, PIECE_TYPE = 3 };                                    // of a piece
enum { UNK_ID = 40, BOS_ID, EOS_ID, PAD_ID, UNK_SURFACE, EOS_PIECE = 47 };  // of a trainer_spec

static const char END[] = "</s>", SURFACE[] = "⁇";

static bool put_piece(Message *out, const char *text, PieceType type)
{
    Message piece = {0};
    bool good = protobuf_put_bytes(&piece, PIECE_TEXT, text, strlen(text)) &&
                protobuf_put_varint(&piece, PIECE_TYPE, type) &&
                protobuf_put_bytes(out, PIECE, piece.bytes, piece.count);
    free(piece.bytes);
    return good;
}

static int by_text(const void *a, const void *b)
{
    const Bytes *x = &((const Piece *)a)->text, *y = &((const Piece *)b)->text;
    int order = memcmp(x->at, y->at, x->count < y->count ? x->count : y->count);
    return order ? order : (x->count > y->count) - (x->count < y->count);
}

/* The pieces with the ids 2 .. count-1, and then those that have none. Sorts `pieces`. */
static bool put_ordered(Message *out, Pieces *pieces, const char *const *piece, int count)
{
    qsort(pieces->piece, (size_t)pieces->count, sizeof *pieces->piece, by_text);
    for (int id = ID_UNKNOWN + 1; id < count - 1; id++) {
        Piece key = {.text = {(const unsigned char *)piece[id], strlen(piece[id])}};
        Piece *found = bsearch(&key, pieces->piece, (size_t)pieces->count, sizeof key, by_text);
        bool tag = !strncmp(piece[id], ">>", 2) && key.text.count > 4 &&
                   !strcmp(piece[id] + key.text.count - 2, "<<");
        bool known =
            found && !tag && found->type != PIECE_CONTROL && found->type != PIECE_UNKNOWN;
        if (known ? !protobuf_put_bytes(out, PIECE, found->message.at, found->message.count)
                  : !put_piece(out, piece[id], PIECE_UNUSED))
            return false;
        if (found && found->type != PIECE_UNKNOWN) found->type = PIECE_CONTROL;  // is done
    }
    return put_piece(out, piece[count - 1], PIECE_CONTROL);
}

/* The unknown piece, or all others that a text can contain. */
static bool put_pieces(Message *out, const Pieces *pieces, bool unknown)
{
    for (int i = 0; i < pieces->count; i++) {
        const Piece *piece = &pieces->piece[i];
        if (piece->type == PIECE_CONTROL || (piece->type == PIECE_UNKNOWN) != unknown) continue;
        if (!protobuf_put_bytes(out, PIECE, piece->message.at, piece->message.count))
            return false;
    }
    return true;
}

static bool put_trainer(Message *out, Message *spec)
{
    const uint64_t none = UINT64_MAX;  // -1
    return protobuf_put_varint(spec, UNK_ID, ID_UNKNOWN) &&
           protobuf_put_varint(spec, BOS_ID, none) &&
           protobuf_put_varint(spec, EOS_ID, ID_END) &&
           protobuf_put_varint(spec, PAD_ID, none) &&
           protobuf_put_bytes(spec, UNK_SURFACE, SURFACE, strlen(SURFACE)) &&
           protobuf_put_bytes(spec, EOS_PIECE, END, strlen(END)) &&
           protobuf_put_bytes(out, TRAINER, spec->bytes, spec->count);
}

/* Appends the fields that put_trainer does not write. What is no field is for tokenizer_load to
 * refuse. */
static bool copy_trainer(Message *spec, Bytes from)
{
    bool good = true;
    for (Field field; good && from.count > 0;) {
        Bytes rest = from;
        if (!protobuf_field(&from, &field)) from = (Bytes){0};
        else if ((field.number >= UNK_ID && field.number <= UNK_SURFACE) ||
                 field.number == EOS_PIECE)
            continue;
        good = protobuf_put_fields(spec, rest.at, rest.count - from.count);
    }
    return good;
}

/* Appends the trainer_spec's fields to spec, and all other fields except the pieces to out. */
static bool copy_fields(Message *out, Message *spec, Bytes model)
{
    for (Field field; model.count > 0;) {
        const unsigned char *begin = model.at;
        bool good = protobuf_field(&model, &field);
        if (good && field.number == TRAINER) good = copy_trainer(spec, field.bytes);
        else if (good && field.number != PIECE)
            good = protobuf_put_fields(out, begin, (size_t)(model.at - begin));
        if (!good) return false;
    }
    return true;
}

/* Whether a model is as tokenizer_train makes them: </s> is the first piece, <unk> the second, no
 * other is of their types, and an unknown word is decoded as SURFACE, perhaps after a space. */
static bool is_own(const Pieces *pieces, Bytes model)
{
    Field field, inner;
    for (int i = 0; i < pieces->count; i++)
        if ((pieces->piece[i].type == PIECE_CONTROL) != (i == ID_END) ||
            (pieces->piece[i].type == PIECE_UNKNOWN) != (i == ID_UNKNOWN))
            return false;
    bool own = false;
    while (model.count > 0 && protobuf_field(&model, &field))
        while (field.number == TRAINER && field.bytes.count > 0 &&
               protobuf_field(&field.bytes, &inner)) {
            Bytes text = inner.bytes;
            if (inner.number != UNK_SURFACE) continue;
            if (text.count > 0 && *text.at == ' ') text.at++, text.count--;
            own = text.count == strlen(SURFACE) && !memcmp(text.at, SURFACE, text.count);
        }
    return own;
}

bool tokenizer_adopt(unsigned char **adopted, size_t *adopted_size, const void *model,
                     size_t size, const char *const *piece, int count, Error *error)
{
    Pieces pieces;
    Message out = {0}, spec = {0};
    if (!pieces_read(&pieces, model, size, error)) return false;
    bool good = !piece && is_own(&pieces, (Bytes){model, size})
                    ? protobuf_put_fields(&out, model, size)
                    : copy_fields(&out, &spec, (Bytes){model, size}) &&
                          put_piece(&out, END, PIECE_CONTROL) &&
                          put_pieces(&out, &pieces, true) &&
                          (!piece || put_ordered(&out, &pieces, piece, count)) &&
                          put_pieces(&out, &pieces, false) && put_trainer(&out, &spec);
    pieces_free(&pieces);
    free(spec.bytes);
    if (!good) error_memory(error, "for its pieces");
    Tokenizer *tokenizer = good ? tokenizer_load(out.bytes, out.count, error) : NULL;
    if (!tokenizer) {
        free(out.bytes);
        return false;
    }
    tokenizer_free(tokenizer);
    *adopted = out.bytes;
    *adopted_size = out.count;
    return true;
}
