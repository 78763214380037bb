/* tokenizer-adopting.cc -- rewrites a SentencePiece model that was made elsewhere.
 *
 * SentencePiece's default order is <unk> 0, <s> 1, </s> 2. Here it is </s> 0, <unk> 1, as in
 * MarianMT. Rewriting a model once, instead of mapping ids at every use, keeps all models in
 * checkpoints of one kind. The tokens of a text depend on the texts and scores of the pieces,
 * not on their order. The trainer_spec repeats what the pieces say and is set to agree with them. */
extern "C" {
#include "base/packed.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"
}
#include "data/tokenizer-library.hh"

#include <algorithm>
#include <string_view>

static const std::string_view END = "</s>", SURFACE = "⁇";

static std::string_view view(Bytes bytes)
{
    return {(const char *)bytes.at, bytes.count};
}

/* ---- fields of a message, which are appended to it ---- */

static void put_varint(std::string *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7) *out += (char)(value | 0x80);
    *out += (char)value;
}

static void put_number(std::string *out, unsigned field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void put_bytes(std::string *out, unsigned field, std::string_view bytes)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.size());
    *out += bytes;
}

static void put_piece(std::string *out, std::string_view text, PieceType type)
{
    std::string piece;
    put_bytes(&piece, PIECE_TEXT, text);
    put_number(&piece, PIECE_TYPE, type);
    put_bytes(out, MODEL_PIECE, piece);
}

/* ---- a model ---- */

/* The pieces with the ids 2 .. count-1. Sorts `pieces`; those of them become PIECE_CONTROL. */
static void put_ordered(std::string *out, Pieces *pieces, const char *const *piece, int count)
{
    Piece *const end = pieces->piece + pieces->count;
    auto before = [](const Piece &p, const Piece &q) { return view(p.text) < view(q.text); };
    std::sort(pieces->piece, end, before);
    for (int id = ID_UNKNOWN + 1; id < count - 1; id++) {
        const std::string_view text = piece[id];
        const Piece key = {{}, {(const unsigned char *)piece[id], text.size()}, {}, 0};
        Piece *found = std::lower_bound(pieces->piece, end, key, before);
        if (found == end || view(found->text) != text) found = nullptr;
        const bool tag = text.size() > 4 && text.substr(0, 2) == ">>" &&
                         text.substr(text.size() - 2) == "<<";
        if (found && !tag && found->type != PIECE_CONTROL && found->type != PIECE_UNKNOWN)
            put_bytes(out, MODEL_PIECE, view(found->message));
        else put_piece(out, text, PIECE_UNUSED);
        if (found && found->type != PIECE_UNKNOWN) found->type = PIECE_CONTROL;
    }
    put_piece(out, piece[count - 1], PIECE_CONTROL);
}

/* The unknown piece, or all others that a text can contain. */
static void put_pieces(std::string *out, const Pieces *pieces, bool unknown)
{
    for (const Piece *p = pieces->piece; p < pieces->piece + pieces->count; p++)
        if (p->type != PIECE_CONTROL && (p->type == PIECE_UNKNOWN) == unknown)
            put_bytes(out, MODEL_PIECE, view(p->message));
}

/* Appends the fields of a message that `taken` says. What is no field is for tokenizer_load to refuse. */
template <class Taken> static void put_fields(std::string *out, Bytes message, Taken taken)
{
    for (Field field; message.count > 0;) {
        const Bytes from = message;
        if (!protobuf_field(&message, &field)) message.count = 0, field = {};
        if (taken(field)) *out += view(from).substr(0, from.count - message.count);
    }
}

static void put_trainer(std::string *out, std::string spec)
{
    const uint64_t none = UINT64_MAX;  // -1
    put_number(&spec, UNK_ID, ID_UNKNOWN);
    put_number(&spec, BOS_ID, none);
    put_number(&spec, EOS_ID, ID_END);
    put_number(&spec, PAD_ID, none);
    put_bytes(&spec, UNK_SURFACE, SURFACE);
    put_bytes(&spec, EOS_PIECE, END);
    put_bytes(out, MODEL_TRAINER, spec);
}

/* The model with its pieces, and what trainer_spec says of them, as they are here. */
static void rewrite(std::string *out, Bytes model, Pieces *pieces, const char *const *piece,
                    int count)
{
    std::string spec;
    auto stays = [](const Field &field) {
        return (field.number < UNK_ID || field.number > UNK_SURFACE) &&
               field.number != EOS_PIECE;
    };
    put_fields(out, model, [&](const Field &field) {
        if (field.number == MODEL_TRAINER) put_fields(&spec, field.bytes, stays);
        return field.number != MODEL_TRAINER && field.number != MODEL_PIECE;
    });
    put_piece(out, END, PIECE_CONTROL);
    put_pieces(out, pieces, true);
    if (piece) put_ordered(out, pieces, piece, count);
    put_pieces(out, pieces, false);
    put_trainer(out, spec);
}

/* Whether a model is as tokenizer_train makes them: </s> is the first piece, <unk> the second, no
 * other is of their types, and an unknown word is decoded as SURFACE, perhaps after a space. */
static bool is_own(const Pieces *pieces)
{
    std::string_view surface = view(pieces->unknown_surface);
    for (int i = 0; i < pieces->count; i++)
        if ((pieces->piece[i].type == PIECE_CONTROL) != (i == ID_END) ||
            (pieces->piece[i].type == PIECE_UNKNOWN) != (i == ID_UNKNOWN))
            return false;
    if (surface.substr(0, 1) == " ") surface.remove_prefix(1);
    return surface == SURFACE;
}

bool tokenizer_adopt(unsigned char **adopted, size_t *adopted_size, const void *model,
                     size_t size, const char *const *piece, int count, Error *error)
{
    Pieces pieces;
    if (!pieces_read(&pieces, model, size, error)) return false;
    bool good = guarded(error, [&] {
        std::string out;
        if (!piece && is_own(&pieces)) out.assign((const char *)model, size);
        else rewrite(&out, {(const unsigned char *)model, size}, &pieces, piece, count);
        Tokenizer *tokenizer = tokenizer_load(out.data(), out.size(), error);
        tokenizer_free(tokenizer);
        return tokenizer && copy_bytes(adopted, adopted_size, out);
    });
    pieces_free(&pieces);
    return good;
}
