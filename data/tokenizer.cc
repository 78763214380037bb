/* tokenizer.cc -- text to ids and back: a C face for Google's SentencePiece.
 *
 * Once pieces_read has checked a model, the library's functions for loading, encoding and
 * decoding either return an error or throw. No exception leaves this file. */
extern "C" {
#include "data/tokenizer.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/packed.h"
#include "data/sentencepiece.h"
}
#include "data/tokenizer-library.hh"

#include <cassert>
#include <cmath>
#include <cstdlib>
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
};

static const char *const TYPE_NAMES[TOKENIZER_TYPES] = {"unigram", "bpe", "word", "char"};
static const char SPACE_SYMBOL[] = "\xe2\x96\x81";  // U+2581

/* Turns off the library's messages. The only public switch is an option of training, so this
 * starts a training, which fails at once for lack of text. */
static void silence(void)
{
    static std::once_flag once;
    std::call_once(once, [] {
        std::string model;
        SentencePieceTrainer::Train(
            std::unordered_map<std::string, std::string>{
                {"minloglevel", "3"}, {"normalization_rule_name", "identity"}},
            nullptr, &model)
            .IgnoreError();
    });
}

const char *tokenizer_type_name(TokenizerType type)
{
    return TYPE_NAMES[type];
}

static bool load(Tokenizer *tokenizer, const void *model, size_t size, Error *error)
{
    SentencePieceProcessor &processor = tokenizer->processor;
    const Status status =
        processor.LoadFromSerializedProto(std::string_view((const char *)model, size));
    if (!status.ok()) return error_set(error, "%s", reason(status.error_message()).c_str());
    const int pieces = processor.GetPieceSize();
    if (pieces < 3 || !processor.IsControl(ID_END) || !processor.IsUnknown(ID_UNKNOWN)) {
        return error_set(error, "its first pieces are not </s> and <unk>");
    }
    for (int id = 0; id < pieces; id++) {
        if (!std::isfinite(processor.GetScore(id))) {
            return error_set(error, "the score of piece %d is not a number", id);
        }
    }
    tokenizer->vocab_size = pieces + 1;
    return true;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *tokenizer = nullptr;
    bool good = guarded(error, [&] {
        Pieces pieces;
        if (!pieces_read(&pieces, model, size, error)) return false;
        const TokenizerType type = (TokenizerType)(pieces.model_type - 1);
        pieces_free(&pieces);
        silence();
        tokenizer = new Tokenizer;
        tokenizer->type = type;
        return load(tokenizer, model, size, error);
    });
    if (good) return tokenizer;
    tokenizer_free(tokenizer);
    error_prefix(error, "this is not a SentencePiece model that can be used");
    return nullptr;
}

void tokenizer_free(Tokenizer *tokenizer)
{
    delete tokenizer;
}

TokenizerType tokenizer_type(const Tokenizer *tokenizer)
{
    return tokenizer->type;
}

int tokenizer_vocab_size(const Tokenizer *tokenizer)
{
    return tokenizer->vocab_size;
}

static bool too_long(Error *error, size_t length)
{
    return error_set(error, "a text of %zu bytes is too long for the tokenizer: %d at most",
                     length, TOKENIZER_MAX_TEXT);
}

/* Turns a status into a result; `what` begins the error. */
static bool done(const Status &status, const char *what, Error *error)
{
    return status.ok() ||
           error_set(error, "%s: %s", what, reason(status.error_message()).c_str());
}

static void reserve(Ids *ids, size_t count)
{
    if (!GROW(ids->id, ids->size, ids->count + count)) throw std::bad_alloc();
}

bool tokenizer_encode(const Tokenizer *tokenizer, Ids *ids, const char *text, size_t length,
                      Error *error)
{
    if (length > TOKENIZER_MAX_TEXT) return too_long(error, length);
    return guarded(error, [&] {
        std::vector<int> pieces;
        if (!done(tokenizer->processor.Encode(std::string_view(text, length), &pieces),
                  "cannot tokenize", error))
            return false;
        reserve(ids, pieces.size());
        for (int id : pieces) ids->id[ids->count++] = id;
        return true;
    });
}

bool tokenizer_begins(const Tokenizer *tokenizer, Ids *begin, const char *text, size_t length,
                      Error *error)
{
    if (length > TOKENIZER_MAX_TEXT) return too_long(error, length);
    return guarded(error, [&] {
        sentencepiece::ImmutableSentencePieceText split;
        if (!done(tokenizer->processor.Encode(std::string_view(text, length),
                                              split.mutable_proto()),
                  "cannot tokenize", error))
            return false;
        reserve(begin, split.pieces_size());
        for (const auto &piece : split.pieces())
            begin->id[begin->count++] = (int32_t)piece.begin();
        return true;
    });
}

bool tokenizer_decode(const Tokenizer *tokenizer, char **text, const int32_t *id, size_t count,
                      Error *error)
{
    return tokenizer_decode_unknown(tokenizer, text, id, count, nullptr, error);
}

/* The library decodes a piece that it does not know to the piece itself. */
bool tokenizer_decode_unknown(const Tokenizer *tokenizer, char **text, const int32_t *id,
                              size_t count, const char *const *unknown, Error *error)
{
    return guarded(error, [&] {
        std::vector<std::string> pieces;
        pieces.reserve(count);
        for (size_t i = 0; i < count; i++) {
            if (id[i] < 0 || id[i] >= tokenizer->vocab_size) {
                return error_set(error, "there is no token %d: there are %d", (int)id[i],
                                 tokenizer->vocab_size);
            }
            if (unknown && unknown[i] && id[i] == ID_UNKNOWN) {
                pieces.push_back(unknown[i]);
            } else if (id[i] != tokenizer->vocab_size - 1) {
                pieces.push_back(tokenizer->processor.IdToPiece(id[i]));
            }
        }
        std::string decoded;
        if (!done(tokenizer->processor.Decode(pieces, &decoded),
                  "cannot put the tokens together", error))
            return false;
        for (char &c : decoded) {
            if ((unsigned char)c < 0x20) c = ' ';
        }
        size_t first = decoded.find_first_not_of(' '), last = decoded.find_last_not_of(' ');
        decoded = first == std::string::npos ? "" : decoded.substr(first, last - first + 1);
        *text = strdup(decoded.c_str());
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

bool tokenizer_begins_word(const Tokenizer *tokenizer, int32_t id)
{
    return strncmp(tokenizer_piece(tokenizer, id), SPACE_SYMBOL, strlen(SPACE_SYMBOL)) == 0;
}

const char *tokenizer_label(const Tokenizer *tokenizer, int32_t id)
{
    const char *piece = tokenizer_piece(tokenizer, id);
    const char *rest = piece + strlen(SPACE_SYMBOL);
    return tokenizer_begins_word(tokenizer, id) && *rest ? rest : piece;
}
