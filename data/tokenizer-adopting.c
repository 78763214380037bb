/* tokenizer-adopting.c -- a SentencePiece model that was made elsewhere, with its pieces in our
 * order.
 *
 * Elsewhere the usual layout is <unk> 0, <s> 1, </s> 2; we have </s> 0 and <unk> 1, as MarianMT
 * has. The model is written anew instead of mapping ids on every way in and out: then a checkpoint
 * holds one kind of model, and nothing but this file knows of another. What a text is cut into
 * depends on the pieces' texts and scores, not on their order. Fields of the messages:
 * sentencepiece.c, and of a trainer_spec
 *
 *     40  unk_id    41  bos_id    42  eos_id    43  pad_id    44  unk_surface    47  eos_piece
 *
 * which say what the pieces say and are made to agree with them. */
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

/* </s> and the unknown piece. */
static bool put_first(Message *out, const Pieces *pieces, const Bytes *piece)
{
    Message end = {0};
    bool good = protobuf_put_bytes(&end, PIECE_TEXT, END, strlen(END)) &&
                protobuf_put_varint(&end, PIECE_TYPE, PIECE_CONTROL) &&
                protobuf_put_bytes(out, PIECE, end.bytes, end.count);
    free(end.bytes);
    for (int i = 0; good && i < pieces->count; i++)
        if (pieces->piece[i].type == PIECE_UNKNOWN)
            good = protobuf_put_bytes(out, PIECE, piece[i].at, piece[i].count);
    return good;
}

/* The others that a text can give. */
static bool put_rest(Message *out, const Pieces *pieces, const Bytes *piece)
{
    bool good = true;
    for (int i = 0; good && i < pieces->count; i++) {
        PieceType type = pieces->piece[i].type;
        if (type != PIECE_UNKNOWN && type != PIECE_CONTROL)
            good = protobuf_put_bytes(out, PIECE, piece[i].at, piece[i].count);
    }
    return good;
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

/* The model's pieces as they lie there, its trainer_spec, and the rest to out. */
static bool take_apart(Message *out, Message *spec, Bytes *piece, const void *model,
                       size_t size)
{
    Bytes from = {model, size};
    int count = 0;
    bool good = true;
    for (Field field; good && from.count > 0;) {
        const unsigned char *begin = from.at;
        if (!protobuf_field(&from, &field)) return false;
        if (field.number == PIECE) piece[count++] = field.bytes;
        else if (field.number == TRAINER)
            good = protobuf_put_fields(spec, field.bytes.at, field.bytes.count);
        else good = protobuf_put_fields(out, begin, (size_t)(from.at - begin));
    }
    return good;
}

static bool rewrite(Message *out, const Pieces *pieces, const void *model, size_t size)
{
    Message spec = {0};
    Bytes *piece = malloc((size_t)pieces->count * sizeof *piece);
    bool good = piece && take_apart(out, &spec, piece, model, size) &&
                put_first(out, pieces, piece) && put_rest(out, pieces, piece) &&
                put_trainer(out, &spec);
    free(spec.bytes);
    free(piece);
    return good;
}

bool tokenizer_adopt(unsigned char **adopted, size_t *adopted_size, const void *model,
                     size_t size, Error *error)
{
    Pieces pieces;
    Message out = {0};
    if (!sentencepiece_check(model, size, error) || !pieces_read(&pieces, model, size, error))
        return false;
    bool good = rewrite(&out, &pieces, model, size);
    pieces_free(&pieces);
    if (!good) error_set(error, "not enough memory for its pieces");
    Tokenizer *tokenizer = good ? tokenizer_load(out.bytes, out.count, error) : NULL;
    if (tokenizer) {
        tokenizer_free(tokenizer);
        *adopted = out.bytes;
        *adopted_size = out.count;
        return true;
    }
    free(out.bytes);
    return false;
}
