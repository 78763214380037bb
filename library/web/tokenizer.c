/* tokenizer.c -- data/tokenizer.h for the page, without SentencePiece: it reads the library's models and
 * gives its tokens, byte for byte (tests/library/encoder.c).
 *
 *   normalise   the longest rule at each place; user-defined pieces stay; runs of spaces become one ▁
 *   unigram     the path of the largest sum of scores (Viterbi; Kudo 2018, arXiv 1804.10959)
 *   bpe         the pair of neighbours whose piece has the largest score is joined, again and again
 *   word, char  one piece for each
 *
 * A tag at the beginning of a text is no token of its own here. */
#include "data/tokenizer.h"

#include <float.h>

#include "base/grow.h"
#include "base/packed.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"

typedef struct Token {
    const char *text;
    int id;
} Token;

struct Tokenizer {
    unsigned char *model;
    Pieces pieces;
    char **piece, **shown;  // [pieces.count]
    Token *token;           // [tokens] normal, user-defined and unused pieces, by their texts
    int tokens;
    float least;  // score of a normal piece
    int placeholder, first_byte, byte[256];
};

/* ---- the tokens that a text begins with ---- */

/* token[from .. end-1] begin with the first `length` bytes of a text. */
typedef struct Prefix {
    int length, from, end;
} Prefix;

/* The first of them whose next byte is `byte` or larger. */
static int lower_bound(const Tokenizer *t, const Prefix *p, int byte)
{
    int from = p->from, end = p->end;
    while (from < end) {
        int middle = from + (end - from) / 2;
        if ((unsigned char)t->token[middle].text[p->length] < byte) from = middle + 1;
        else end = middle;
    }
    return from;
}

/* The id of the next longer token that text [length] begins with, of p->length bytes; or -1. */
static int next_token(Prefix *p, const Tokenizer *t, const char *text, int length)
{
    while (p->length < length && p->from < p->end) {
        unsigned char byte = (unsigned char)text[p->length];
        p->from = lower_bound(t, p, byte);
        p->end = lower_bound(t, p, byte + 1);
        p->length++;
        if (p->from < p->end && !t->token[p->from].text[p->length]) return t->token[p->from].id;
    }
    return -1;
}

/* The id of the token with this text, or -1. */
static int find_token(const Tokenizer *t, const char *text, int length)
{
    Prefix p = {0, 0, t->tokens};
    int id;
    while ((id = next_token(&p, t, text, length)) >= 0 && p.length < length) {}
    return id;
}

/* The length of the longest user-defined piece that a text begins with, or 0. */
static int own_length(const Tokenizer *t, const char *text, int length)
{
    Prefix p = {0, 0, t->tokens};
    int longest = 0;
    for (int id; (id = next_token(&p, t, text, length)) >= 0;)
        if (t->pieces.piece[id].type == PIECE_USER_DEFINED) longest = p.length;
    return longest;
}

/* ---- the model ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const Token *)a)->text, ((const Token *)b)->text);
}

static bool read_tokens(Tokenizer *t)
{
    t->least = FLT_MAX;
    t->placeholder = pieces_placeholder(&t->pieces);
    t->first_byte = pieces_first_byte(&t->pieces);
    for (int id = 0; id < t->pieces.count; id++) {
        const Piece *p = &t->pieces.piece[id];
        const char *text = t->piece[id] = strndup((const char *)p->text.at, p->text.count);
        if (!text) return false;
        bool goes_on = id > ID_UNKNOWN && piece_goes_on(tokenizer_type(t), text);
        const char *dot = goes_on ? "·" : "";
        if (asprintf(&t->shown[id], "%s%s", dot, tokenizer_label(t, id)) < 0)
            return t->shown[id] = NULL, false;
        if (p->type == PIECE_NORMAL && p->score < t->least) t->least = p->score;
        if (p->type == PIECE_BYTE && tokenizer_byte(t, id) >= 0)
            t->byte[tokenizer_byte(t, id)] = id;
        if (p->type == PIECE_NORMAL || p->type == PIECE_USER_DEFINED || p->type == PIECE_UNUSED)
            t->token[t->tokens++] = (Token){text, id};
    }
    qsort(t->token, (size_t)t->tokens, sizeof *t->token, by_text);
    return true;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *t = calloc(1, sizeof *t);
    if (t) t->model = malloc(size + 1);
    if (t && t->model) {
        memcpy(t->model, model, size);
        if (!pieces_read(&t->pieces, t->model, size, error)) return tokenizer_free(t), NULL;
        size_t count = (size_t)t->pieces.count;
        t->piece = calloc(count, sizeof *t->piece);
        t->shown = calloc(count, sizeof *t->shown);
        t->token = calloc(count, sizeof *t->token);
        if (t->piece && t->shown && t->token && read_tokens(t)) return t;
    }
    tokenizer_free(t);
    return error_memory(error, "for a vocabulary"), NULL;
}

void tokenizer_free(Tokenizer *t)
{
    if (!t) return;
    for (int id = 0; id < t->pieces.count; id++) {
        if (t->piece) free(t->piece[id]);
        if (t->shown) free(t->shown[id]);
    }
    free(t->piece), free(t->shown), free(t->token), free(t->model);
    pieces_free(&t->pieces);
    free(t);
}

int tokenizer_vocab_size(const Tokenizer *t)
{
    return t->pieces.count + 1;
}

TokenizerType tokenizer_type(const Tokenizer *t)
{
    return (TokenizerType)(t->pieces.model_type - 1);
}

int tokenizer_placeholder(const Tokenizer *t)
{
    return t->placeholder;
}

int tokenizer_first_byte(const Tokenizer *t)
{
    return t->first_byte;
}

const char *tokenizer_piece(const Tokenizer *t, int32_t id)
{
    assert(id >= 0 && id <= t->pieces.count);
    return id == t->pieces.count ? "<pad>" : t->piece[id];
}

const char *tokenizer_shown(const Tokenizer *t, int32_t id)
{
    return id == t->pieces.count ? "<pad>" : t->shown[id];
}

/* ---- normalising ---- */

/* A text as the model reads it; at [length+1]: the byte of the original that each is from */
typedef struct Normal {
    char *text;
    int *at;
    size_t length, text_size, at_size;
} Normal;

static bool put(Normal *n, const char *text, size_t length, size_t from)
{
    if (!GROW(n->text, n->text_size, n->length + length + 1) ||
        !GROW(n->at, n->at_size, n->length + length + 1))
        return false;
    memcpy(n->text + n->length, text, length);
    for (size_t i = 0; i < length; i++) n->at[n->length++] = (int)from;
    return true;
}

/* What the text begins with, *to [*count], normalised; returns the bytes that it replaces. */
static size_t normal_prefix(const Tokenizer *t, const Normalizer *rules, const char *text,
                            size_t rest, const char **to, size_t *count)
{
    unsigned code;
    size_t length = rules == &t->pieces.normalizer ? (size_t)own_length(t, text, (int)rest) : 0;
    const char *other = length ? NULL : charsmap_longest(rules->charsmap, &length, text, rest);
    if (!length) length = (size_t)utf8_next(text, &code);
    if (length == 1 && *text & 0x80) other = "\xEF\xBF\xBD";  // no character
    *to = other ? other : text;
    *count = other ? strlen(other) : length;
    return length;
}

/* n (=) the text, before it is split, or after it was decoded */
static bool normalise(Normal *n, const Tokenizer *t, bool decoded, const char *text,
                      size_t length)
{
    const Normalizer *rules = decoded ? &t->pieces.denormalizer : &t->pieces.normalizer;
    const char *space = decoded ? " " : TOKENIZER_SPACE, *to;
    size_t at = 0, count, wide = strlen(space);
    bool collapses = rules->collapses && !decoded, good = true, was_space = collapses;
    while (collapses && at < length) {
        size_t step = normal_prefix(t, rules, text + at, length - at, &to, &count);
        if (count != 1 || *to != ' ') break;
        at += step;
    }
    if (at < length && rules->prefix && !decoded) good = put(n, space, wide, at);
    for (size_t step; good && at < length; at += step) {
        step = normal_prefix(t, rules, text + at, length - at, &to, &count);
        while (was_space && count && *to == ' ') to++, count--;
        for (size_t i = 0; good && i < count; i++)
            good = to[i] == ' ' ? put(n, space, wide, at) : put(n, to + i, 1, at);
        if (count) was_space = collapses && to[count - 1] == ' ';
    }
    while (collapses && n->length >= wide && !memcmp(n->text + n->length - wide, space, wide)) {
        n->length -= wide;
        at = (size_t)n->at[n->length];
    }
    good = good && put(n, "", 1, at);
    n->length -= good;
    return good;
}

/* ---- splitting: piece [pieces] of the normal text, by their lengths and ids ---- */

typedef struct Split {
    int length, id;
} Split;

static int character_length(const char *text)
{
    unsigned code;
    return utf8_next(text, &code);
}

static int id_of(const Tokenizer *t, const char *text, int length)
{
    int id = find_token(t, text, length);
    return id < 0 ? ID_UNKNOWN : id;
}

/* The best path: the score of each place, and the piece that ends there. */
static int split_unigram(Split *split, const Tokenizer *t, const char *text, int length)
{
    struct {
        float score;
        int from, id;
    } *best = malloc(((size_t)length + 1) * sizeof *best);
    int count = 0;
    if (!best) return -1;
    for (int i = 0; i <= length; i++) best[i].from = -1, best[i].score = 0;
    for (int at = 0, own; at < length; at += own) {
        bool single = false;
        own = character_length(text + at);
        Prefix p = {0, 0, t->tokens};
        for (int id; (id = next_token(&p, t, text + at, length - at)) >= 0;) {
            const Piece *piece = &t->pieces.piece[id];
            int n = p.length;
            if (piece->type == PIECE_UNUSED) continue;
            bool user = piece->type == PIECE_USER_DEFINED;
            double score = user ? (double)((float)n * FLT_MIN) - 0.1 : (double)piece->score,
                   sum = score + (double)best[at].score;
            if (best[at + n].from < 0 || sum > (double)best[at + n].score)
                best[at + n].score = (float)sum, best[at + n].from = at, best[at + n].id = id;
            single |= n == own;
        }
        float sum = t->least - 10 + best[at].score;
        if (!single && (best[at + own].from < 0 || sum > best[at + own].score))
            best[at + own].score = sum, best[at + own].from = at,
                      best[at + own].id = ID_UNKNOWN;
    }
    for (int end = length; end > 0; end = best[end].from) count++;
    for (int end = length, i = count; end > 0; end = best[end].from)
        split[--i] = (Split){end - best[end].from, best[end].id};
    free(best);
    return count;
}

/* An unused piece is what it was made of: the pieces of the pair that was joined last. */
static int put_joined(Split *split, int count, const Tokenizer *t, const char *text, int length,
                      const int *half)
{
    int id = id_of(t, text, length), left = id == ID_UNKNOWN ? 0 : half[id];
    if (id == ID_UNKNOWN || t->pieces.piece[id].type != PIECE_UNUSED || !left)
        return split[count] = (Split){length, id}, count + 1;
    count = put_joined(split, count, t, text, left, half);
    return put_joined(split, count, t, text + left, length - left, half);
}

typedef struct Symbol {
    int at, length, next;
    bool fixed;  // a user-defined piece
} Symbol;

static int split_bpe(Split *split, const Tokenizer *t, const char *text, int length)
{
    Symbol *symbol = malloc(((size_t)length + 1) * sizeof *symbol);
    const Piece *piece = t->pieces.piece;
    int *half = calloc((size_t)t->pieces.count, sizeof *half), symbols = 0, count = 0;
    for (int at = 0, n; symbol && at < length; at += n) {
        int own = own_length(t, text + at, length - at);
        n = own ? own : character_length(text + at);
        symbol[symbols] = (Symbol){at, n, symbols + 1, own > 0};
        symbols++;
    }
    for (bool joined = symbol && half; joined;) {
        int best = -1, best_id = 0;
        for (int i = 0, j; i < symbols && (j = symbol[i].next) < symbols; i = j) {
            if (symbol[i].fixed || symbol[j].fixed) continue;
            int id = find_token(t, text + symbol[i].at, symbol[i].length + symbol[j].length);
            if (id < 0) continue;
            if (piece[id].type == PIECE_UNUSED) half[id] = symbol[i].length;
            if (best < 0 || piece[id].score > piece[best_id].score) best = i, best_id = id;
        }
        joined = best >= 0;
        if (!joined) break;
        int next = symbol[best].next;
        symbol[best].length += symbol[next].length, symbol[best].next = symbol[next].next;
    }
    for (int i = 0; symbol && half && i < symbols; i = symbol[i].next)
        count = put_joined(split, count, t, text + symbol[i].at, symbol[i].length, half);
    bool good = symbol && half;
    free(symbol), free(half);
    return good ? count : -1;
}

static int split_whole(Split *split, const Tokenizer *t, const char *text, int length)
{
    bool words = tokenizer_type(t) == TOKENIZER_WORD;
    int count = 0;
    for (int at = 0, n; at < length; at += n) {
        n = words ? 0 : own_length(t, text + at, length - at);
        if (!n) n = character_length(text + at);
        while (words && at + n < length &&
               strncmp(text + at + n, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE)))
            n += character_length(text + at + n);
        split[count++] = (Split){n, id_of(t, text + at, n)};
    }
    return count;
}

bool tokenizer_encode_begins(const Tokenizer *t, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error)
{
    Normal n = {0};
    TokenizerType type = tokenizer_type(t);
    bool good = normalise(&n, t, false, text, tokenizer_length(text, length));
    Split *split = malloc((n.length + 1) * sizeof *split);
    int count = !good || !split             ? -1
                : type == TOKENIZER_UNIGRAM ? split_unigram(split, t, n.text, (int)n.length)
                : type == TOKENIZER_BPE     ? split_bpe(split, t, n.text, (int)n.length)
                                            : split_whole(split, t, n.text, (int)n.length);
    good = count >= 0;
    int at = 0;
    for (int i = 0, last = ID_END; good && i < count; i++) {
        int id = split[i].id, from = at;
        at += split[i].length;
        int place = n.at[from], mark = last - t->placeholder;
        if (begin && t->placeholder && mark >= 0 &&
            mark < PLACEHOLDERS) {  // the space after it has its place
            const char *end = strchr(text + begin->id[begin->count - 1], '>');
            if (end && end + 1 - text > place) place = (int)(end + 1 - text);
        }
        last = id;
        if (id == ID_UNKNOWN && t->pieces.byte_fallback)
            for (; good && from < at; from++)
                good = ids_push(ids, begin, t->byte[(unsigned char)n.text[from]], n.at[from]);
        else if (id == ID_UNKNOWN) {
            while (i + 1 < count && split[i + 1].id == ID_UNKNOWN) at += split[++i].length;
            good = unknown_push(ids, begin, text, (size_t)place, (size_t)n.at[at]);
        } else good = ids_push(ids, begin, id, place);
    }
    free(split), free(n.text), free(n.at);
    return good || error_memory(error, "for a text's tokens");
}

/* ---- decoding ---- */

enum { MARK = 1 };  // stands for a replacement until the text is whole

bool tokenizer_decode_replaced(const Tokenizer *t, char **text, const int32_t *id, size_t count,
                               const char *const *replacement, Error *error)
{
    TextStream stream, whole;
    FILE *out = textstream_open(&stream);
    const char **own = calloc(count + 1, sizeof *own);
    int replaced = 0, used = 0;
    for (size_t i = 0; out && own && i < count; i++) {
        const char *word = replacement ? replacement[i] : NULL;
        if (id[i] == ID_END || id[i] == t->pieces.count || (word && !*word)) continue;
        int byte = tokenizer_byte(t, id[i]);
        bool space = word && id[i] == ID_UNKNOWN && *word == ' ';
        if (word) {
            if (space || tokenizer_type(t) == TOKENIZER_WORD || tokenizer_begins_word(t, id[i]))
                putc(' ', out);
            putc(MARK, out), own[replaced++] = word + space;
        } else if (byte >= 0) putc(byte < 0x20 ? ' ' : byte, out);
        else if (id[i] == ID_UNKNOWN)
            fwrite(t->pieces.unknown_surface.at, 1, t->pieces.unknown_surface.count, out);
        else
            for (const char *at = t->piece[id[i]]; *at;)
                if (!strncmp(at, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE)))
                    putc(' ', out), at += strlen(TOKENIZER_SPACE);
                else putc(*at++, out);
    }
    char *joined = textstream_close(&stream);
    Normal n = {0};
    bool good = joined && own && textstream_open(&whole) &&
                normalise(&n, t, true, joined, strlen(joined));
    size_t first = 0, end = n.length;
    while (first < end && n.text[first] == ' ') first++;
    while (end > first && n.text[end - 1] == ' ') end--;
    for (size_t i = first; good && i < end; i++)
        if (n.text[i] == MARK && used < replaced) fputs(own[used++], whole.out);
        else putc((unsigned char)n.text[i] < 0x20 ? ' ' : n.text[i], whole.out);
    *text = good ? textstream_close(&whole) : NULL;
    free(joined), free(own), free(n.text), free(n.at);
    return *text || error_memory(error, "for a text");
}
