/* tokenizer.cc -- text to ids: a C face for Google's SentencePiece.
 *
 * Once pieces_read has checked a model, the library's functions for loading and encoding
 * either return an error or throw. No exception leaves this file. */
extern "C" {
#include "base/packed.h"
#include "data/tokenizer-common.h"
}
#include "data/tokenizer-library.hh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string_view>
#include <unordered_map>
#include <vector>

using sentencepiece::SentencePieceProcessor;
using sentencepiece::SentencePieceTrainer;
using sentencepiece::util::Status;

struct Splitter : Tokenizer {
    SentencePieceProcessor processor;
    std::vector<int> tags;  // their ids
};

static const Splitter &splitter(const Tokenizer *tokenizer)
{
    return *static_cast<const Splitter *>(tokenizer);
}

/* Whether ids are of another program: <pad> is a piece, those after it are <unk>. */
static bool is_mapped(const Tokenizer *tokenizer)
{
    return tokenizer->vocab_size <= tokenizer->pieces.count;
}

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

static bool is_tag(const Tokenizer *tokenizer, int id)
{
    const Piece *piece = &tokenizer->pieces.piece[id];
    const std::string_view text((const char *)piece->text.at, piece->text.count);
    if (piece->type == PIECE_UNUSED && is_mapped(tokenizer))
        return text.substr(0, 2) == ">>" && text.find("<<", 3) == text.size() - 2;
    return piece->type == PIECE_USER_DEFINED &&
           tokenizer_may_be_tag(text.data(), text.size()) &&
           !tokenizer_is_placeholder(tokenizer, id);
}

static bool load(Splitter *tokenizer, std::string_view model, Error *error)
{
    const Piece *piece = tokenizer->pieces.piece;
    const int count = tokenizer->pieces.count;
    const Status status = tokenizer->processor.LoadFromSerializedProto(model);
    if (!status.ok()) return error_set(error, "%s", reason(status.error_message()).c_str());
    if (count < 3 || piece[ID_END].type != PIECE_CONTROL ||
        piece[ID_UNKNOWN].type != PIECE_UNKNOWN)
        return error_set(error, "its first pieces are not </s> and <unk>");
    for (int id = 0; id < count; id++)
        if (!std::isfinite(piece[id].score))
            return error_set(error, "the score of piece %d is not a number", id);
    for (int id = 0; id < tokenizer->vocab_size - 1; id++)
        if (is_tag(tokenizer, id)) tokenizer->tags.push_back(id);
    return true;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Splitter *tokenizer = nullptr;
    if (guarded(error, [&] {
            silence();
            tokenizer = new Splitter();
            return tokenizer_read(tokenizer, model, size, error) &&
                   load(tokenizer, {(const char *)model, size}, error);
        }))
        return tokenizer;
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
    if (!tokenizer) return;
    tokenizer_close(tokenizer);
    delete static_cast<Splitter *>(tokenizer);
}

/* Turns a status into a result. */
static bool is_split(const Status &status, Error *error)
{
    return status.ok() ||
           error_set(error, "cannot tokenize: %s", reason(status.error_message()).c_str());
}

/* The length of the tag that a text begins with, and its id. */
static size_t tag_length(const Tokenizer *tokenizer, int32_t *id, std::string_view text)
{
    size_t longest = 0;
    for (int tag : splitter(tokenizer).tags) {
        const std::string_view piece = tokenizer->piece[tag];
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
    const std::vector<int> &tags = splitter(tokenizer).tags;
    return std::count(tags.begin(), tags.end(), id);
}

/* The id of a piece of a text. What the model does not know may be a token nevertheless, if the
 * ids are those of another program. */
static int32_t token_of(const Tokenizer *tokenizer, int32_t id, const std::string &piece)
{
    const SentencePieceProcessor &processor = splitter(tokenizer).processor;
    if (!is_mapped(tokenizer)) return id;
    if (id >= tokenizer->vocab_size) return ID_UNKNOWN;
    const int other = id == ID_UNKNOWN ? processor.PieceToId(piece) : id;
    return processor.IsUnused(other) ? other : id;
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
        const SentencePieceProcessor &processor = splitter(tokenizer).processor;
        if (!is_split(processor.Encode(whole.substr(tag), split.mutable_proto()), error))
            return false;
        for (const auto &piece : split.pieces()) {
            const int32_t own = (int32_t)piece.id(),
                          id = token_of(tokenizer, own, piece.piece());
            if (!tokenizer_push(ids, begin, tokenizer, last, id, text, tag + piece.begin(),
                                tag + piece.end()))
                throw std::bad_alloc();
            last = own;
        }
        return true;
    });
}

char *tokenizer_split(const void *tokenizer, const char *text, Error *error)
{
    char *split = nullptr;
    guarded(error, [&] {
        std::vector<std::string> pieces;
        auto &processor = static_cast<const Splitter *>(tokenizer)->processor;
        if (!is_split(processor.Encode(text, &pieces), error)) return false;
        std::string joined;
        for (const std::string &piece : pieces) joined += (joined.empty() ? "" : " ") + piece;
        split = strdup(joined.c_str());
        return split || error_memory(error, "for the pieces of a text");
    });
    return split;
}
