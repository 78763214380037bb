/* tokenizer.cc -- text to ids and back: a C face for Google's SentencePiece.
 *
 * Once pieces_read has checked a model, the library's functions for loading, encoding and
 * decoding either return an error or throw. No exception leaves this file. */
extern "C" {
#include "data/tokenizer.h"
#include "base/packed.h"
#include "data/sentencepiece.h"
}
#include "data/tokenizer-library.hh"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <mutex>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string_view>
#include <unordered_map>
#include <vector>

using sentencepiece::SentencePieceProcessor;
using sentencepiece::SentencePieceTrainer;
using sentencepiece::util::Status;

struct Tokenizer {
    SentencePieceProcessor processor;
    int vocab_size;
    TokenizerType type;
    int placeholder;        // id of <ph1>, or 0
    int first_byte;         // id of <0x00>, or 0
    std::vector<int> tags;  // their ids
    bool mapped;  // ids are of another program: <pad> is a piece, those after it are <unk>
    mutable std::vector<std::string>
        shown;  // [vocab_size] by tokenizer_shown, when it is needed
    mutable std::once_flag labels;
};

const char *const tokenizer_type_names[] = {"unigram", "bpe", "word", "char", nullptr};

/* Turns off the library's messages. The only public switch is an option of training, so this
 * starts a training, which fails at once for lack of text. */
static void silence(void)
{
    static Status once = SentencePieceTrainer::Train(
        std::unordered_map<std::string, std::string>{{"minloglevel", "3"},
                                                     {"normalization_rule_name", "identity"}},
        nullptr, nullptr);
    once.IgnoreError();
}

bool tokenizer_may_be_tag(const char *word, size_t length)
{
    return length > 2 && ispunct((unsigned char)word[0]) &&
           ispunct((unsigned char)word[length - 1]) && !memchr(word, ',', length);
}

static bool is_tag(const Tokenizer *tokenizer, int id, const Piece *piece)
{
    const std::string_view text((const char *)piece->text.at, piece->text.count);
    const int placeholder = id - tokenizer->placeholder;
    if (piece->type == PIECE_UNUSED && tokenizer->mapped)
        return text.substr(0, 2) == ">>" && text.find("<<", 3) == text.size() - 2;
    return piece->type == PIECE_USER_DEFINED &&
           tokenizer_may_be_tag(text.data(), text.size()) &&
           !(tokenizer->placeholder && placeholder >= 0 && placeholder < PLACEHOLDERS);
}

static bool load(Tokenizer *tokenizer, const void *model, size_t size, const Pieces *pieces,
                 Error *error)
{
    SentencePieceProcessor &processor = tokenizer->processor;
    const Piece *piece = pieces->piece;
    const Status status =
        processor.LoadFromSerializedProto(std::string_view((const char *)model, size));
    if (!status.ok()) return error_set(error, "%s", reason(status.error_message()).c_str());
    if (pieces->count < 3 || piece[ID_END].type != PIECE_CONTROL ||
        piece[ID_UNKNOWN].type != PIECE_UNKNOWN)
        return error_set(error, "its first pieces are not </s> and <unk>");
    for (int id = 0; id < pieces->count; id++)
        if (!std::isfinite(piece[id].score))
            return error_set(error, "the score of piece %d is not a number", id);
    const int pad = processor.PieceToId("<pad>");
    tokenizer->mapped = processor.IsControl(pad);
    tokenizer->vocab_size = (tokenizer->mapped ? pad : pieces->count) + 1;
    tokenizer->type = (TokenizerType)(pieces->model_type - 1);
    tokenizer->placeholder = pieces_placeholder(pieces);
    tokenizer->first_byte = pieces_first_byte(pieces);
    for (int id = 0; id < tokenizer->vocab_size - 1; id++)
        if (is_tag(tokenizer, id, &piece[id])) tokenizer->tags.push_back(id);
    return true;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *tokenizer = nullptr;
    Pieces pieces;
    bool good = pieces_read(&pieces, model, size, error) && guarded(error, [&] {
                    silence();
                    tokenizer = new Tokenizer;
                    return load(tokenizer, model, size, &pieces, error);
                });
    pieces_free(&pieces);
    if (good) return tokenizer;
    tokenizer_free(tokenizer);
    error_prefix(error, "this is not a SentencePiece model that can be used");
    return nullptr;
}

void tokenizer_on_no_memory(void (*handler)(void))
{
    std::set_new_handler(handler);
}

void tokenizer_free(Tokenizer *tokenizer)
{
    delete tokenizer;
}

TokenizerType tokenizer_type(const Tokenizer *tokenizer)
{
    return tokenizer->type;
}

int tokenizer_placeholder(const Tokenizer *tokenizer)
{
    return tokenizer->placeholder;
}

int tokenizer_first_byte(const Tokenizer *tokenizer)
{
    return tokenizer->first_byte;
}

int tokenizer_vocab_size(const Tokenizer *tokenizer)
{
    return tokenizer->vocab_size;
}

/* Turns a status into a result; `what` begins the error. */
static bool done(const Status &status, const char *what, Error *error)
{
    return status.ok() ||
           error_set(error, "%s: %s", what, reason(status.error_message()).c_str());
}

/* The length of the tag that a text begins with, and its id. */
static size_t tag_length(const Tokenizer *tokenizer, int32_t *id, std::string_view text)
{
    size_t longest = 0;
    for (int tag : tokenizer->tags) {
        const std::string &piece = tokenizer->processor.IdToPiece(tag);
        if (piece.size() > longest && text.substr(0, piece.size()) == piece)
            longest = piece.size(), *id = tag;
    }
    return longest;
}

size_t tokenizer_tag(const Tokenizer *tokenizer, const char *text, size_t length)
{
    int32_t id;
    return tag_length(tokenizer, &id, std::string_view(text, length));
}

bool tokenizer_is_tag(const Tokenizer *tokenizer, int id)
{
    return std::count(tokenizer->tags.begin(), tokenizer->tags.end(), id);
}

/* The id of a piece of a text. What the model does not know may be a token nevertheless, if the
 * ids are those of another program. */
static int32_t token_of(const Tokenizer *tokenizer, int32_t id, const std::string &piece)
{
    if (!tokenizer->mapped) return id;
    if (id >= tokenizer->vocab_size) return ID_UNKNOWN;
    const int other = id == ID_UNKNOWN ? tokenizer->processor.PieceToId(piece) : id;
    return tokenizer->processor.IsUnused(other) ? other : id;
}

bool tokenizer_encode_begins(const Tokenizer *tokenizer, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error)
{
    const std::string_view whole(text, tokenizer_length(text, length));
    return guarded(error, [&] {
        int32_t last = ID_END;
        const size_t tag = tag_length(tokenizer, &last, whole);
        if (tag && !ids_push(ids, begin, last, 0)) throw std::bad_alloc();
        sentencepiece::ImmutableSentencePieceText split;
        if (!done(tokenizer->processor.Encode(whole.substr(tag), split.mutable_proto()),
                  "cannot tokenize", error))
            return false;
        for (const auto &piece : split.pieces()) {
            const int32_t mark = last - tokenizer->placeholder;
            size_t place = tag + piece.begin();
            /* The type word's space after a placeholder begins where that begins. */
            if (begin && tokenizer->placeholder && mark >= 0 && mark < PLACEHOLDERS)
                place = std::max(place, whole.find('>', begin->id[begin->count - 1]) + 1);
            last = (int32_t)piece.id();
            const int32_t id = token_of(tokenizer, last, piece.piece());
            if (!(id == ID_UNKNOWN ? unknown_push(ids, begin, text, place, tag + piece.end())
                                   : ids_push(ids, begin, id, place)))
                throw std::bad_alloc();
        }
        return true;
    });
}

char *tokenizer_split(const void *tokenizer, const char *text, Error *error)
{
    char *split = nullptr;
    guarded(error, [&] {
        std::vector<std::string> pieces;
        auto &processor = static_cast<const Tokenizer *>(tokenizer)->processor;
        if (!done(processor.Encode(text, &pieces), "cannot tokenize", error)) return false;
        std::string joined;
        for (const std::string &piece : pieces) joined += (joined.empty() ? "" : " ") + piece;
        split = strdup(joined.c_str());
        return split || error_memory(error, "for the pieces of a text");
    });
    return split;
}

/* Stands for a replacement while the library decodes: it decodes a piece that it does not know to
 * the piece itself. A control character, which no text has in the end. */
static const char MARK = '\x01';

bool tokenizer_decode_replaced(const Tokenizer *tokenizer, char **text, const int32_t *id,
                               size_t count, const char *const *replacement, Error *error)
{
    return guarded(error, [&] {
        std::vector<std::string> pieces;
        std::vector<std::string_view> own;
        for (size_t i = 0; i < count; i++) {
            if (id[i] < 0 || id[i] >= tokenizer->vocab_size)
                return error_set(error, "there is no token %d: there are %d", (int)id[i],
                                 tokenizer->vocab_size);
            if (id[i] == ID_END || id[i] == tokenizer->vocab_size - 1) continue;
            std::string piece = tokenizer->processor.IdToPiece(id[i]);
            if (replacement && replacement[i]) {
                std::string_view word = replacement[i];
                if (word.empty()) continue;
                const bool own_space = id[i] == ID_UNKNOWN && word[0] == ' ';
                const bool space = own_space || tokenizer->type == TOKENIZER_WORD ||
                                   tokenizer_begins_word(tokenizer, id[i]);
                own.push_back(word.substr(own_space));
                piece = (space ? " " : "") + std::string(1, MARK);
            } else if (piece == "<0x01>" || piece.find(MARK) != std::string::npos) piece = " ";
            pieces.push_back(piece);
        }
        std::string decoded, out;
        if (!done(tokenizer->processor.Decode(pieces, &decoded),
                  "cannot put the tokens together", error))
            return false;
        const size_t first = decoded.find_first_not_of(' '),
                     end = decoded.find_last_not_of(' ') + 1;
        for (size_t i = first, used = 0; i < end; i++)
            if (decoded[i] == MARK && used < own.size()) out += own[used++];
            else out += (unsigned char)decoded[i] < 0x20 ? ' ' : decoded[i];
        *text = strdup(out.c_str());
        if (!*text) throw std::bad_alloc();
        return true;
    });
}

const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id)
{
    assert(id >= 0 && id < tokenizer->vocab_size);
    if (id == tokenizer->vocab_size - 1) return "<pad>";
    return tokenizer->processor.IdToPiece(id).c_str();
}

const char *tokenizer_shown(const Tokenizer *tokenizer, int32_t id)
{
    std::call_once(tokenizer->labels, [&] {
        try {
            for (int i = 0; i < tokenizer->vocab_size; i++) {
                const bool special = i <= ID_UNKNOWN || i == tokenizer->vocab_size - 1;
                const bool goes_on =
                    !special && piece_goes_on(tokenizer->type, tokenizer_piece(tokenizer, i));
                tokenizer->shown.push_back(std::string(goes_on ? "·" : "") +
                                           tokenizer_label(tokenizer, i));
            }
        } catch (const std::bad_alloc &) {
            tokenizer->shown.clear();
        }
    });
    return tokenizer->shown.empty() ? tokenizer_label(tokenizer, id)
                                    : tokenizer->shown[(size_t)id].c_str();
}
