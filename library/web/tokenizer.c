/* tokenizer.c -- data/tokenizer.h for the page, without SentencePiece: it reads the library's models and
 * gives its tokens, byte for byte (tests/library/encoder.c).
 *
 *   normalise   the longest rule at each place; user-defined pieces stay; runs of spaces become one ▁
 *   unigram     the path of the largest sum of scores (Viterbi; Kudo 2018, arXiv 1804.10959)
 *   bpe         the pair of neighbours whose piece has the largest score is joined, again and again
 *   word, char  one piece for each
 *
 * A tag at the beginning of a text is no token of its own here. */
#include <float.h>

#include "base/grow.h"
#include "base/packed.h"
#include "base/utf8.h"
#include "data/tokenizer-common.h"

typedef struct Token {
    const char *text;
    int id;
} Token;

typedef struct Splitter {
    Tokenizer common;    // first: the caller's pointer
    const Piece *piece;  // of common.pieces
    Token *token;        // [tokens] normal, user-defined and unused pieces, by their texts
    int tokens;
    float least;  // score of a normal piece
    int byte[256];
} Splitter;

/* ---- the tokens that a text begins with ---- */

/* token[from .. end-1] begin with the first `length` bytes of a text. */
typedef struct Prefix {
    int length, from, end;
} Prefix;

/* The first of them whose next byte is `byte` or larger. */
static int lower_bound(const Splitter *t, const Prefix *p, int byte)
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
static int next_token(Prefix *p, const Splitter *t, const char *text, int length)
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
static int find_token(const Splitter *t, const char *text, int length)
{
    Prefix p = {0, 0, t->tokens};
    int id;
    while ((id = next_token(&p, t, text, length)) >= 0 && p.length < length) {}
    return id;
}

/* The length of the longest user-defined piece that a text begins with, or 0. */
static int own_length(const Splitter *t, const char *text, int length)
{
    Prefix p = {0, 0, t->tokens};
    int longest = 0;
    for (int id; (id = next_token(&p, t, text, length)) >= 0;)
        if (t->piece[id].type == PIECE_USER_DEFINED) longest = p.length;
    return longest;
}

/* ---- the model ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const Token *)a)->text, ((const Token *)b)->text);
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Splitter *s = calloc(1, sizeof *s);
    if (!s) return error_memory(error, "for a vocabulary"), NULL;
    Tokenizer *t = &s->common;
    if (!tokenizer_read(t, model, size, error)) return tokenizer_free(t), NULL;
    s->piece = t->pieces.piece;
    s->token = calloc((size_t)t->pieces.count, sizeof *s->token);
    if (!s->token) return tokenizer_free(t), error_memory(error, "for a vocabulary"), NULL;
    s->least = FLT_MAX;
    for (int id = 0; id < t->pieces.count; id++) {
        const Piece *p = &s->piece[id];
        if (p->type == PIECE_NORMAL && p->score < s->least) s->least = p->score;
        if (p->type == PIECE_BYTE && tokenizer_byte(t, id) >= 0)
            s->byte[tokenizer_byte(t, id)] = id;
        if (p->type == PIECE_NORMAL || p->type == PIECE_USER_DEFINED || p->type == PIECE_UNUSED)
            s->token[s->tokens++] = (Token){t->piece[id], id};
    }
    qsort(s->token, (size_t)s->tokens, sizeof *s->token, by_text);
    return t;
}

void tokenizer_free(Tokenizer *t)
{
    if (!t) return;
    tokenizer_close(t);
    free(((Splitter *)t)->token);
    free(t);
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
static size_t normal_prefix(const Splitter *t, const char *text, size_t rest, const char **to,
                            size_t *count)
{
    size_t own = (size_t)own_length(t, text, (int)rest);
    if (!own) return normalizer_first(&t->common.pieces.normalizer, to, count, text, rest);
    *to = text;
    return *count = own;
}

/* n (=) the text, before it is split */
static bool normalise(Normal *n, const Splitter *t, const char *text, size_t length)
{
    const Normalizer *rules = &t->common.pieces.normalizer;
    const char *to;
    size_t at = 0, count, wide = strlen(TOKENIZER_SPACE);
    bool collapses = rules->collapses, good = true, was_space = collapses;
    while (collapses && at < length) {
        size_t step = normal_prefix(t, text + at, length - at, &to, &count);
        if (count != 1 || *to != ' ') break;
        at += step;
    }
    if (at < length && rules->prefix) good = put(n, TOKENIZER_SPACE, wide, at);
    for (size_t step; good && at < length; at += step) {
        step = normal_prefix(t, text + at, length - at, &to, &count);
        while (was_space && count && *to == ' ') to++, count--;
        for (size_t i = 0; good && i < count; i++)
            good = to[i] == ' ' ? put(n, TOKENIZER_SPACE, wide, at) : put(n, to + i, 1, at);
        if (count) was_space = collapses && to[count - 1] == ' ';
    }
    while (collapses && n->length >= wide &&
           !memcmp(n->text + n->length - wide, TOKENIZER_SPACE, wide)) {
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

static int id_of(const Splitter *t, const char *text, int length)
{
    int id = find_token(t, text, length);
    return id < 0 ? ID_UNKNOWN : id;
}

/* The best path: the score of each place, and the piece that ends there. */
static int split_unigram(Split *split, const Splitter *t, const char *text, int length)
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
            const Piece *piece = &t->piece[id];
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
static int put_joined(Split *split, int count, const Splitter *t, const char *text, int length,
                      const int *half)
{
    int id = id_of(t, text, length), left = id == ID_UNKNOWN ? 0 : half[id];
    if (id == ID_UNKNOWN || t->piece[id].type != PIECE_UNUSED || !left)
        return split[count] = (Split){length, id}, count + 1;
    count = put_joined(split, count, t, text, left, half);
    return put_joined(split, count, t, text + left, length - left, half);
}

typedef struct Symbol {
    int at, length, next;
    bool fixed;  // a user-defined piece
} Symbol;

static int split_bpe(Split *split, const Splitter *t, const char *text, int length)
{
    Symbol *symbol = malloc(((size_t)length + 1) * sizeof *symbol);
    const Piece *piece = t->piece;
    int *half = calloc((size_t)t->common.pieces.count, sizeof *half), symbols = 0, count = 0;
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

static int split_whole(Split *split, const Splitter *t, const char *text, int length)
{
    bool words = tokenizer_type(&t->common) == TOKENIZER_WORD;
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

bool tokenizer_encode_begins(const Tokenizer *tokenizer, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error)
{
    Normal n = {0};
    const Splitter *t = (const Splitter *)tokenizer;
    TokenizerType type = tokenizer_type(tokenizer);
    bool good = normalise(&n, t, text, tokenizer_length(text, length));
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
        if (id == ID_UNKNOWN && tokenizer->pieces.byte_fallback) {
            for (; good && from < at; from++)
                good = ids_push(ids, begin, t->byte[(unsigned char)n.text[from]], n.at[from]);
        } else {
            while (id == ID_UNKNOWN && i + 1 < count && split[i + 1].id == ID_UNKNOWN)
                at += split[++i].length;
            good = tokenizer_push(ids, begin, tokenizer, last, id, text, (size_t)n.at[from],
                                  (size_t)n.at[at]);
        }
        last = id;
    }
    free(split), free(n.text), free(n.at);
    return good || error_memory(error, "for a text's tokens");
}
