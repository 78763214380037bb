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

static bool put_end(Message *out)
{
    Message end = {0};
    bool good = protobuf_put_bytes(&end, PIECE_TEXT, END, strlen(END)) &&
                protobuf_put_varint(&end, PIECE_TYPE, PIECE_CONTROL) &&
                protobuf_put_bytes(out, PIECE, end.bytes, end.count);
    free(end.bytes);
    return good;
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

/* Appends the trainer_spec's fields to spec, and all other fields except the pieces to out. */
static bool copy_fields(Message *out, Message *spec, Bytes model)
{
    for (Field field; model.count > 0;) {
        const unsigned char *begin = model.at;
        bool good = protobuf_field(&model, &field);
        if (good && field.number == TRAINER)
            good = protobuf_put_fields(spec, field.bytes.at, field.bytes.count);
        else if (good && field.number != PIECE)
            good = protobuf_put_fields(out, begin, (size_t)(model.at - begin));
        if (!good) return false;
    }
    return true;
}

bool tokenizer_adopt(unsigned char **adopted, size_t *adopted_size, const void *model,
                     size_t size, Error *error)
{
    Pieces pieces;
    Message out = {0}, spec = {0};
    if (!pieces_read(&pieces, model, size, error)) return false;
    bool good = copy_fields(&out, &spec, (Bytes){model, size}) && put_end(&out) &&
                put_pieces(&out, &pieces, true) && put_pieces(&out, &pieces, false) &&
                put_trainer(&out, &spec);
    pieces_free(&pieces);
    free(spec.bytes);
    if (!good) error_set(error, "not enough memory for its pieces");
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
