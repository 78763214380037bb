/* tokenizer-extending.cc -- adds pieces to a SentencePiece model, for text that it was not learned from.
 *
 * Characters that have no piece come first. Then byte pair encoding (Sennrich et al. 2016, arXiv
 * 1508.07909) goes on where the model ends: the library cuts the text into pieces, and the
 * neighbours that are together most often become pieces, round after round. The scores of these:
 *
 *     bpe       below all before: the library puts the old pieces together first
 *     unigram   MARGIN more than its two parts have together, so that it is taken instead of them;
 *               a character has the logarithm of its share of the tokens. What is hardly used in
 *               the end, since longer pieces are, is left out. (Shares for all pieces, if they are
 *               larger, divide 284 instead of 178 of 2,000 old sentences otherwise.)
 *
 * So a text in which no new piece occurs keeps its tokens. */
extern "C" {
#include "base/packed.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"
}
#include "data/tokenizer-library.hh"

#include <algorithm>
#include <cmath>
#include <map>
#include <sentencepiece_processor.h>
#include <set>
#include <unicode/uchar.h>
#include <vector>

using sentencepiece::SentencePieceProcessor;
using Counts = std::map<std::string, size_t>;
using NewPieces = std::vector<std::pair<std::string, float>>;  // with their scores

enum { MAX_SENTENCE = 4192, MAX_PIECE = 48 };  // bytes
enum { LEAST = 5, LEAST_CHARACTER = 2 };       // times that a new piece is in the text
static const double MARGIN = 0.1;

/* Whether two pieces may become one: of letters, or without any, with U+2581 only at the beginning. */
static bool joinable(const std::string &left, const std::string &right)
{
    unsigned a, b;
    size_t at = left.size();
    if (!at || at + right.size() > MAX_PIECE || !right.find(TOKENIZER_SPACE)) return false;
    while (--at > 0 && (left[at] & 0xC0) == 0x80) {}
    if (!left.compare(at, std::string::npos, TOKENIZER_SPACE)) return at == 0;
    utf8_next(left.c_str() + at, &a), utf8_next(right.c_str(), &b);
    return u_isUAlphabetic((UChar32)a) == u_isUAlphabetic((UChar32)b);
}

/* A model and what was added to it. */
struct Model {
    const Pieces *old;
    std::string bytes;
    SentencePieceProcessor literal;  // cuts a piece as it is, with no space before it

    /* Field 1 of a model is a piece: its text and its score. */
    void add(const std::string &text, float score)
    {
        const char size = (char)text.size();
        bytes += {'\x0a', (char)(size + 7), '\x0a', size};
        (bytes += text + '\x15').append((const char *)&score, sizeof score);
    }

    /* Field 3, the last one, has neither add_dummy_prefix nor remove_extra_whitespaces. */
    void load()
    {
        const std::string spec("\x1a\4\x18\0\x20\0", 6);
        if (!literal.LoadFromSerializedProto(bytes + spec).ok()) throw std::bad_alloc();
    }

    /* PIECE_UNKNOWN: there is none with this text. */
    PieceType type(const std::string &text) const
    {
        const int id = literal.PieceToId(text);
        return id < old->count ? old->piece[id].type : PIECE_NORMAL;
    }

    double score(const std::string &text) const
    {
        return literal.GetScore(literal.PieceToId(text));
    }
};

/* words (=) the text, cut where pieces are not joinable; unknown (=) its characters that have no
 * piece. Returns the number of its tokens. */
static size_t read(Counts *words, Counts *unknown, const Model &model,
                   const std::vector<Sentences> &texts)
{
    SentencePieceProcessor processor;
    if (!processor.LoadFromSerializedProto(model.bytes).ok()) throw std::bad_alloc();
    size_t tokens = 0;
    std::string word, last, character;
    auto add = [&](const std::string &piece) {
        if (!joinable(last, piece)) (*words)[word]++, word.clear();
        word += last = piece;
    };
    auto read_sentence = [&](std::string_view sentence) {
        std::vector<std::string> pieces;
        last.clear();
        if (sentence.size() > MAX_SENTENCE || !processor.Encode(sentence, &pieces).ok()) return;
        tokens += pieces.size();
        for (std::string piece : pieces) {
            const PieceType type = model.type(piece);
            if (type == PIECE_BYTE) piece = (char)std::stoi(piece.substr(3, 2), nullptr, 16);
            else if (type != PIECE_UNKNOWN) add(piece), piece.clear();
            for (char byte : piece) {
                character += byte;
                if (!utf8_is_valid(character.data(), character.size(), nullptr)) continue;
                (*unknown)[character]++, add(character), character.clear();
            }
        }
    };
    for (const Sentences &text : texts)
        for (size_t i = 0; i < text.count; i += 1 + text.count / TOKENIZER_SENTENCES)
            read_sentence({text.bytes + text.start[i], text.start[i + 1] - text.start[i]});
    (*words)[word]++;
    return tokens;
}

/* Learns pieces, and adds them to the model. Sets the numbers of *done. */
static NewPieces learn(Model *model, TokenizerExtension *done,
                       const std::vector<Sentences> &texts, size_t most)
{
    const bool bpe = model->old->model_type - 1 == TOKENIZER_BPE;
    Counts words, unknown, uses;
    std::multimap<size_t, std::string, std::greater<>> characters;
    NewPieces pieces;
    model->load();
    float lowest = 0;
    for (int id = 0; id < model->old->count; id++)
        lowest = std::min(lowest, model->literal.GetScore(id));
    done->before = read(&words, &unknown, *model, texts);
    auto add = [&](const std::string &text, double score) {
        pieces.emplace_back(text, bpe ? lowest -= 1 : score);
        model->add(text, pieces.back().second);
    };
    for (const auto &[text, count] : unknown) characters.emplace(count, text);
    for (const auto &[count, text] : characters)
        if (count >= LEAST_CHARACTER && pieces.size() < most)
            add(text, log((double)count / (double)done->before)), done->characters++;
    for (bool more = true; more;) {
        std::map<std::pair<std::string, std::string>, size_t> pairs;
        std::multimap<size_t, std::pair<std::string, std::string>, std::greater<>> frequent;
        std::set<std::string> left, right, made;  // of the pairs that have become pieces
        model->load();
        uses.clear();
        for (const auto &[word, count] : words) {
            std::vector<std::string> split;
            if (!model->literal.Encode(word, &split).ok()) throw std::bad_alloc();
            for (size_t i = 0; i < split.size(); i++) {
                uses[split[i]] += count;
                if (i && joinable(split[i - 1], split[i]))
                    pairs[{split[i - 1], split[i]}] += count;
            }
        }
        for (const auto &[pair, count] : pairs)
            if (count >= LEAST && model->type(pair.first) == PIECE_NORMAL &&
                model->type(pair.second) == PIECE_NORMAL &&
                model->type(pair.first + pair.second) == PIECE_UNKNOWN)
                frequent.emplace(count, pair);
        for (const auto &[count, pair] : frequent) {
            const auto &[a, b] = pair;
            // what overlaps another pair is counted again without it
            if (count < frequent.begin()->first / 2 || pieces.size() == most) break;
            if (right.count(a) || left.count(b) || !made.insert(a + b).second) continue;
            left.insert(a), right.insert(b);
            add(a + b, model->score(a) + model->score(b) + MARGIN);
        }
        more = !made.empty();
    }
    for (const auto &use : uses) done->after += use.second;
    auto rare = [&](const std::pair<std::string, float> &piece) {
        return !bpe && uses[piece.first] < LEAST && !unknown.count(piece.first);
    };
    pieces.erase(std::remove_if(pieces.begin(), pieces.end(), rare), pieces.end());
    return pieces;
}

/* Fails for a model of whole words or characters, and for one that another program numbers. */
static bool check(const Model &model, Error *error)
{
    const int type = model.old->model_type - 1;
    const char *of = type == TOKENIZER_WORD                 ? "words"
                     : type == TOKENIZER_CHAR               ? "characters"
                     : model.type("<pad>") == PIECE_CONTROL ? "another program"
                                                            : nullptr;
    return !of ||
           error_set(error,
                     "`extend-vocabulary` adds subwords to the vocabularies of ./train with "
                     "`tokenizer` bpe or unigram, and this one is of %s",
                     of);
}

bool tokenizer_extend(unsigned char **model, size_t *size, TokenizerExtension *done,
                      const Sentences *text, int texts, int most, Error *error)
{
    Pieces old;
    *done = (TokenizerExtension){};
    if (!pieces_read(&old, *model, *size, error)) return false;
    bool good = guarded(error, [&] {
        const std::string bytes((const char *)*model, *size);
        Model learned{&old, bytes, {}}, extended{&old, bytes, {}};
        extended.load();
        if (!check(extended, error)) return false;
        for (const auto &[piece, score] : learn(&learned, done, {text, text + texts}, most)) {
            std::vector<int> parts;
            if (!extended.literal.Encode(piece, &parts).ok()) throw std::bad_alloc();
            parts.push_back(ID_END);
            for (int id : parts)
                if (!ids_push(&done->parts, nullptr, id, 0)) throw std::bad_alloc();
            extended.add(piece, score);
            done->pieces++;
        }
        free(*model);
        return copy_bytes(model, size, extended.bytes);
    });
    pieces_free(&old);
    return good;
}
