/* tokenizer.c -- data/tokenizer.h for the page, without SentencePiece: it reads the library's models and
 * gives its tokens, byte for byte (tests/library/encoder.c), for texts of one part (data/tokenizer.cc).
 *
 *   normalise   the longest rule at each place; user-defined pieces stay; runs of spaces become one ▁
 *   unigram     the path of the largest sum of scores (Viterbi; Kudo 2018, arXiv 1804.10959)
 *   bpe         the pair of neighbours whose piece has the largest score is joined, again and again
 *   word, char  one piece for each
 *
 * A tag at the beginning of a text is no token of its own here. */
#include "data/tokenizer.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/packed.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"
#include "data/tokenizer-unknown.h"
#include "data/words.h"

/* ---- texts and their numbers ---- */

typedef struct Entry {
    char *text;  // [length], owned
    int length, value;
} Entry;

typedef struct Table {
    Entry *entry;  // [size], a power of two; text NULL: free
    size_t size, count;
    int longest;  // of its texts
    uint64_t
        lengths[256];  // of those that begin with a byte: bit n if one has n bytes, 63 for more
} Table;

static bool table_has(const Table *t, const char *text, int length)
{
    return t->lengths[(unsigned char)*text] >> (length < 63 ? length : 63) & 1;
}

static Entry *table_place(const Table *t, const char *text, int length)
{
    size_t i = hash_bytes(HASH_START, text, (size_t)length) & (t->size - 1);
    while (t->entry[i].text &&
           (t->entry[i].length != length || memcmp(t->entry[i].text, text, (size_t)length)))
        i = (i + 1) & (t->size - 1);
    return &t->entry[i];
}

/* The number of a text, or -1. */
static int table_find(const Table *t, const char *text, int length)
{
    const Entry *e = length && table_has(t, text, length) ? table_place(t, text, length) : NULL;
    return e && e->text ? e->value : -1;
}

static bool table_put(Table *t, const char *text, int length, int value)
{
    if (2 * ++t->count > t->size) {
        Table larger = *t;
        larger.size = t->size ? 2 * t->size : 64;
        larger.entry = calloc(larger.size, sizeof *larger.entry);
        if (!larger.entry) return false;
        for (size_t i = 0; i < t->size; i++)
            if (t->entry[i].text)
                *table_place(&larger, t->entry[i].text, t->entry[i].length) = t->entry[i];
        free(t->entry);
        *t = larger;
    }
    Entry *e = table_place(t, text, length);
    if (!e->text) *e = (Entry){strndup(text, (size_t)length), length, value};
    if (length > t->longest) t->longest = length;
    t->lengths[(unsigned char)*text] |= (uint64_t)1 << (length < 63 ? length : 63);
    return e->text;
}

/* The number of the longest of its texts that a text begins with, and *length; or -1. */
static int table_begins(const Table *t, const char *text, size_t rest, int *length)
{
    for (int n = rest < (size_t)t->longest ? (int)rest : t->longest; n > 0; n--) {
        int value = table_find(t, text, n);
        if (value >= 0) return *length = n, value;
    }
    return -1;
}

static void table_free(Table *t)
{
    for (size_t i = 0; i < t->size; i++) free(t->entry[i].text);
    free(t->entry);
}

/* ---- the model ---- */

typedef struct Rules {
    Table from;  // their values are places in
    char **to;   // [count]
    size_t count, size;
    bool failed;
} Rules;

struct Tokenizer {
    unsigned char *model;
    Pieces pieces;
    char **piece, **shown;  // [count]
    float *score;           // [count]
    Table ids, own;         // of normal, user-defined and unused pieces; of user-defined ones
    Rules rules, back;      // the normaliser's and the denormaliser's
    float least;            // score of a normal piece
    bool prefix, collapses, bytes;  // add_dummy_prefix, remove_extra_whitespaces, byte_fallback
    int placeholder, byte[256];
};

static void add_rule(void *context, const char *from, const char *to)
{
    Rules *rules = context;
    rules->failed |= !GROW(rules->to, rules->size, rules->count + 1) ||
                     !table_put(&rules->from, from, (int)strlen(from), (int)rules->count);
    if (!rules->failed) rules->to[rules->count++] = strdup(to);
}

/* Reads what data/sentencepiece.c does not: scores, and fields of the specifications. */
static bool read_fields(Tokenizer *t, size_t size)
{
    Bytes model = {t->model, size};
    Field field, part;
    int id = 0;
    t->prefix = t->collapses = true;
    while (model.count && protobuf_field(&model, &field)) {
        Bytes message = field.bytes;
        while (message.at && message.count) {
            uint32_t bits = 0;
            const unsigned char *at = message.at;
            if (field.number == 1 && *at == (2 << 3 | 5) && message.count > 4)
                memcpy(&bits, at + 1, 4);
            if (!protobuf_field(&message, &part)) return false;
            if (field.number == 1 && part.number == 2) memcpy(&t->score[id], &bits, 4);
            if (field.number == 2 && part.number == 35) t->bytes = part.value;
            if (field.number == 3 && part.number == 3) t->prefix = part.value;
            if (field.number == 3 && part.number == 4) t->collapses = part.value;
            if (field.number == 5 && part.number == 2)
                pieces_rules(&(Pieces){.charsmap = part.bytes}, &t->back, add_rule);
        }
        id += field.number == 1;
    }
    pieces_rules(&t->pieces, &t->rules, add_rule);
    return !t->rules.failed && !t->back.failed;
}

static bool read_pieces(Tokenizer *t)
{
    int found = 0;
    t->least = FLT_MAX;
    for (int id = 0; id < t->pieces.count; id++) {
        const Piece *p = &t->pieces.piece[id];
        const char *text = t->piece[id] = strndup((const char *)p->text.at, p->text.count);
        int length = (int)p->text.count;
        unsigned byte;
        if (!text) return false;
        if (p->type == PIECE_NORMAL && t->score[id] < t->least) t->least = t->score[id];
        if (p->type == PIECE_BYTE && sscanf(text, "<0x%2x>", &byte) == 1) t->byte[byte] = id;
        bool token =
            p->type == PIECE_NORMAL || p->type == PIECE_USER_DEFINED || p->type == PIECE_UNUSED;
        if ((token && !table_put(&t->ids, text, length, id)) ||
            (p->type == PIECE_USER_DEFINED && !table_put(&t->own, text, length, id)))
            return false;
        char next[24];
        snprintf(next, sizeof next, "%s<ph%d>",
                 tokenizer_type(t) == TOKENIZER_WORD ? TOKENIZER_SPACE : "", found + 1);
        found = p->type == PIECE_USER_DEFINED && !strcmp(text, next) ? found + 1 : 0;
        if (found == PLACEHOLDERS) t->placeholder = id + 1 - PLACEHOLDERS, found = 0;
    }
    return true;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *t = calloc(1, sizeof *t);
    if (t) t->model = malloc(size + 1);
    if (t && t->model) memcpy(t->model, model, size);
    if (t && t->model && !pieces_read(&t->pieces, t->model, size, error))
        return tokenizer_free(t), NULL;
    if (t && t->model) {
        size_t count = (size_t)t->pieces.count;
        t->piece = calloc(count + 1, sizeof *t->piece);
        t->shown = calloc(count + 1, sizeof *t->shown);
        t->score = calloc(count + 1, sizeof *t->score);
        if (t->piece && t->shown && t->score && read_fields(t, size) && read_pieces(t))
            return t;
    }
    tokenizer_free(t);
    return error_memory(error, "for a vocabulary"), NULL;
}

void tokenizer_free(Tokenizer *t)
{
    if (!t) return;
    Rules *rules[] = {&t->rules, &t->back};
    for (int id = 0; id < t->pieces.count; id++) {
        if (t->piece) free(t->piece[id]);
        if (t->shown) free(t->shown[id]);
    }
    for (int r = 0; r < 2; r++) {
        for (size_t i = 0; i < rules[r]->count; i++) free(rules[r]->to[i]);
        table_free(&rules[r]->from), free(rules[r]->to);
    }
    table_free(&t->ids), table_free(&t->own);
    free(t->piece), free(t->shown), free(t->score), free(t->model);
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

const char *tokenizer_piece(const Tokenizer *t, int32_t id)
{
    assert(id >= 0 && id <= t->pieces.count);
    return id == t->pieces.count ? "<pad>" : t->piece[id];
}

const char *tokenizer_shown(const Tokenizer *t, int32_t id)
{
    unsigned code;
    const char *piece = tokenizer_piece(t, id), *label = tokenizer_label(t, id);
    utf8_next(piece, &code);
    if (id <= ID_UNKNOWN || id == t->pieces.count || label != piece ||
        tokenizer_type(t) == TOKENIZER_WORD || !words_letter(code))
        return label;
    if (!t->shown[id] && (t->shown[id] = malloc(strlen(label) + 3)))
        sprintf(t->shown[id], "·%s", label);
    return t->shown[id] ? t->shown[id] : label;
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

/* What the text begins with, *to [*count], as the rules have it; returns the bytes that it replaces. */
static int normal_prefix(const Tokenizer *t, const Rules *rules, const char *text, size_t rest,
                         const char **to, size_t *count)
{
    unsigned code;
    int length = 0, rule = -1;
    *to = text;
    if (rules == &t->back || table_begins(&t->own, text, rest, &length) < 0) {
        rule = table_begins(&rules->from, text, rest, &length);
        if (rule < 0) length = utf8_next(text, &code);
    }
    if (rule >= 0) *to = rules->to[rule];
    *count = rule >= 0 ? strlen(*to) : (size_t)length;
    return length;
}

/* n (=) the text; spaces are ▁ if `escapes`. */
static bool normalise(Normal *n, const Tokenizer *t, const Rules *rules, bool prefix,
                      bool collapses, bool escapes, const char *text, size_t length)
{
    const char *space = escapes ? TOKENIZER_SPACE : " ", *to;
    size_t at = 0, count, wide = strlen(space);
    bool good = true, was_space = collapses;
    while (collapses && at < length) {
        int step = normal_prefix(t, rules, text + at, length - at, &to, &count);
        if (count != 1 || *to != ' ') break;
        at += (size_t)step;
    }
    if (at < length && prefix) good = put(n, space, wide, at);
    for (int step; good && at < length; at += (size_t)step) {
        step = normal_prefix(t, rules, text + at, length - at, &to, &count);
        while (was_space && count && *to == ' ') to++, count--;
        for (size_t i = 0; good && i < count; i++)
            good = to[i] == ' ' ? put(n, space, wide, at) : put(n, to + i, 1, at);
        if (count) was_space = to[count - 1] == ' ';
        if (!collapses) was_space = false;
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
    int id = table_find(&t->ids, text, length);
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
        for (int n = 1; n <= t->ids.longest && at + n <= length; n++) {
            int id = table_find(&t->ids, text + at, n);
            if (id < 0 || t->pieces.piece[id].type == PIECE_UNUSED) continue;
            bool user = t->pieces.piece[id].type == PIECE_USER_DEFINED;
            double score = user ? (double)((float)n * FLT_MIN) - 0.1 : (double)t->score[id],
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

static int split_bpe(Split *split, const Tokenizer *t, const char *text, int length)
{
    struct {
        int at, length, next;
        bool fixed;  // a user-defined piece
    } *symbol = malloc(((size_t)length + 1) * sizeof *symbol);
    int *half = calloc((size_t)t->pieces.count, sizeof *half), symbols = 0, count = 0;
    for (int at = 0, n; symbol && at < length; at += n) {
        bool fixed = table_begins(&t->own, text + at, (size_t)(length - at), &n) >= 0;
        if (!fixed) n = character_length(text + at);
        symbol[symbols].at = at, symbol[symbols].length = n, symbol[symbols].fixed = fixed;
        symbol[symbols].next = symbols + 1, symbols++;
    }
    for (bool joined = symbol && half; joined;) {
        int best = -1, best_id = 0;
        for (int i = 0, j; i < symbols && (j = symbol[i].next) < symbols; i = j) {
            if (symbol[i].fixed || symbol[j].fixed) continue;
            int id =
                table_find(&t->ids, text + symbol[i].at, symbol[i].length + symbol[j].length);
            if (id >= 0 && t->pieces.piece[id].type == PIECE_UNUSED)
                half[id] = symbol[i].length;
            if (id >= 0 && (best < 0 || t->score[id] > t->score[best_id]))
                best = i, best_id = id;
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
    int count = 0;
    for (int at = 0, n; at < length; at += n) {
        if (tokenizer_type(t) == TOKENIZER_CHAR &&
            table_begins(&t->own, text + at, (size_t)(length - at), &n) < 0)
            n = character_length(text + at);
        for (n = tokenizer_type(t) == TOKENIZER_CHAR ? n : character_length(text + at);
             tokenizer_type(t) == TOKENIZER_WORD && at + n < length &&
             strncmp(text + at + n, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE));)
            n += character_length(text + at + n);
        split[count++] = (Split){n, id_of(t, text + at, n)};
    }
    return count;
}

static bool push(Ids *ids, Ids *begin, int id, int at)
{
    if (!GROW(ids->id, ids->size, ids->count + 1) ||
        (begin && !GROW(begin->id, begin->size, begin->count + 1)))
        return false;
    ids->id[ids->count++] = id;
    if (begin) begin->id[begin->count++] = at;
    return true;
}

bool tokenizer_encode_begins(const Tokenizer *t, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error)
{
    Normal n = {0};
    TokenizerType type = tokenizer_type(t);
    bool good = normalise(&n, t, &t->rules, t->prefix, t->collapses, true, text, length);
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
        bool joined = id == ID_UNKNOWN && last == ID_UNKNOWN;
        int place = n.at[from], mark = last - t->placeholder;
        if (begin && t->placeholder && mark >= 0 &&
            mark < PLACEHOLDERS) {  // the space after it has its place
            const char *end = strchr(text + begin->id[begin->count - 1], '>');
            if (end && end + 1 - text > place) place = (int)(end + 1 - text);
        }
        last = id;
        if (id == ID_UNKNOWN && t->bytes)
            for (; good && from < at; from++)
                good = push(ids, begin, t->byte[(unsigned char)n.text[from]], n.at[from]);
        else if (id == ID_UNKNOWN) {
            while (i + 1 < count && split[i + 1].id == ID_UNKNOWN) at += split[++i].length;
            good = unknown_push(ids, begin, text, (size_t)place, (size_t)n.at[at], joined);
        } else good = push(ids, begin, id, place);
    }
    free(split), free(n.text), free(n.at);
    return good || error_memory(error, "for a text's tokens");
}

/* ---- decoding ---- */

enum { MARK = 1 };  // stands for a replacement until the text is whole

/* Writes bytes that tokens stand for: those that are no character as U+FFFD. */
static void put_bytes(FILE *out, const char *bytes, int count)
{
    for (int i = 0, n; i < count; i += n) {
        unsigned code;
        n = utf8_next(bytes + i, &code);
        bool whole = i + n <= count && (n > 1 || !(bytes[i] & 0x80));
        if (whole) fwrite(bytes + i, 1, (size_t)n, out);
        else fputs("\xEF\xBF\xBD", out), n = 1;
    }
}

bool tokenizer_decode_replaced(const Tokenizer *t, char **text, const int32_t *id, size_t count,
                               const char *const *replacement, Error *error)
{
    TextStream stream, whole;
    FILE *out = textstream_open(&stream);
    char *bytes = calloc(count + 5, 1);
    const char **own = calloc(count + 1, sizeof *own);
    int held = 0, replaced = 0, used = 0;
    for (size_t i = 0; out && bytes && own && i <= count; i++) {
        const char *word = i < count && replacement ? replacement[i] : NULL;
        int byte = i < count && !word ? tokenizer_byte(t, id[i]) : -1;
        if (byte >= 0) bytes[held++] = (char)byte;
        if (byte >= 0) continue;
        put_bytes(out, bytes, held), memset(bytes, 0, count + 5), held = 0;
        if (i == count || id[i] == ID_END || id[i] == t->pieces.count || (word && !*word))
            continue;
        bool space = word && id[i] == ID_UNKNOWN && *word == ' ';
        if (word) {
            if (space || tokenizer_type(t) == TOKENIZER_WORD || tokenizer_begins_word(t, id[i]))
                putc(' ', out);
            putc(MARK, out), own[replaced++] = word + space;
        } else if (id[i] == ID_UNKNOWN)
            fwrite(t->pieces.unknown_surface.at, 1, t->pieces.unknown_surface.count, out);
        else
            for (const char *at = t->piece[id[i]]; *at;)
                if (!strncmp(at, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE)))
                    putc(' ', out), at += strlen(TOKENIZER_SPACE);
                else putc(*at++, out);
    }
    char *joined = textstream_close(&stream);
    Normal n = {0};
    bool good = joined && bytes && own && textstream_open(&whole) &&
                normalise(&n, t, &t->back, false, false, false, joined, strlen(joined));
    size_t first = 0, end = n.length;
    while (first < end && n.text[first] == ' ') first++;
    while (end > first && n.text[end - 1] == ' ') end--;
    for (size_t i = first; good && i < end; i++)
        if (n.text[i] == MARK && used < replaced) fputs(own[used++], whole.out);
        else putc((unsigned char)n.text[i] < 0x20 ? ' ' : n.text[i], whole.out);
    *text = good ? textstream_close(&whole) : NULL;
    free(joined), free(bytes), free(own), free(n.text), free(n.at);
    return *text || error_memory(error, "for a text");
}
