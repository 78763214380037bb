/* tokenizer.c -- data/tokenizer.h for the page, without SentencePiece: words and punctuation marks.
 *
 * The model is text, a piece a line in the order of the ids: </s>, <unk>, then "▁jane", … The text to
 * be cut becomes lower case; a mark becomes a word, and an apostrophe ends one, as the word type of
 * data/tokenizer-learning.cc has it: "L'école ?" is l' · école · ?. Unlike that, only the Latin letters
 * A to Ž change, and full-width or composed characters stay: words with them are unknown. */
#include "data/tokenizer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/packed.h"
#include "base/utf8.h"

struct Tokenizer {
    char *text;          // the model with NUL bytes for newlines
    const char **piece;  // [count]
    size_t size;
    int count;
    int *id;  // [slots] hash table; 0: empty
    size_t slots;
};

static const char SPACE[] = "\xe2\x96\x81";  // U+2581
enum { SPACE_BYTES = 3 };

static size_t slot_of(const Tokenizer *t, const char *word, size_t length)
{
    uint32_t hash = 2166136261u;  // FNV-1a
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    return hash % t->slots;
}

/* The id of a word without U+2581. */
static int find(const Tokenizer *t, const char *word, size_t length)
{
    for (size_t s = slot_of(t, word, length); t->id[s]; s = (s + 1) % t->slots) {
        const char *piece = t->piece[t->id[s]] + SPACE_BYTES;
        if (!strncmp(piece, word, length) && !piece[length]) return t->id[s];
    }
    return ID_UNKNOWN;
}

static bool make_table(Tokenizer *t)
{
    t->slots = 2 * (size_t)t->count + 1;
    t->id = calloc(t->slots, sizeof *t->id);
    for (int id = 0; t->id && id < t->count; id++) {
        if (!tokenizer_begins_word(t, id)) continue;
        const char *word = t->piece[id] + SPACE_BYTES;
        size_t s = slot_of(t, word, strlen(word));
        while (t->id[s]) s = (s + 1) % t->slots;
        t->id[s] = id;
    }
    return t->id;
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *t = calloc(1, sizeof *t);
    if (t && (t->text = calloc(size + 1, 1))) memcpy(t->text, model, size);
    bool good = t && t->text;
    for (char *at = good ? t->text : NULL, *end; good && *at; at = end + 1) {
        if (!(end = strchr(at, '\n'))) break;
        *end = '\0';
        good = GROW(t->piece, t->size, (size_t)t->count + 1);
        if (good) t->piece[t->count++] = at;
    }
    if (good && make_table(t)) return t;
    tokenizer_free(t);
    return error_set(error, "not enough memory for a vocabulary"), NULL;
}

void tokenizer_free(Tokenizer *t)
{
    if (t) free(t->text), free(t->piece), free(t->id);
    free(t);
}

int tokenizer_vocab_size(const Tokenizer *t)
{
    return t->count + 1;
}

TokenizerType tokenizer_type(const Tokenizer *t)
{
    (void)t;
    return TOKENIZER_WORD;
}

const char *tokenizer_piece(const Tokenizer *t, int32_t id)
{
    assert(id >= 0 && id <= t->count);
    return id == t->count ? "<pad>" : t->piece[id];
}

bool tokenizer_begins_word(const Tokenizer *t, int32_t id)
{
    return !strncmp(tokenizer_piece(t, id), SPACE, SPACE_BYTES);
}

const char *tokenizer_label(const Tokenizer *t, int32_t id)
{
    const char *piece = tokenizer_piece(t, id);
    return tokenizer_begins_word(t, id) && piece[SPACE_BYTES] ? piece + SPACE_BYTES : piece;
}

/* ---- encoding ---- */

/* A word as it is cut out of a text. */
typedef struct Word {
    char text[64];  // the beginning of a longer one, which no vocabulary has
    size_t length;
    size_t begin;  // of it in the text, with a space before it
} Word;

static unsigned lower(unsigned c)
{
    if (c == 0x2019) return '\'';
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7)) return c + 32;
    return c >= 0x100 && c <= 0x17F && c != 0x130 && c != 0x178 ? c | 1 : c;
}

static bool is_mark(unsigned c)
{
    return (c < 0x80 && c && strchr(".,:;?!()\"", (int)c)) || c == 0xAB || c == 0xBB ||
           c == 0x201C || c == 0x201D;
}

/* 3.14, 10:30 and example.org are one word each. */
static bool is_inside(unsigned mark, unsigned next)
{
    bool digit = next >= '0' && next <= '9', letter = (next | 32) >= 'a' && (next | 32) <= 'z';
    return (digit && (mark == '.' || mark == ',' || mark == ':')) || (letter && mark == '.');
}

static void put(Word *word, unsigned c)
{
    char bytes[3] = {(char)c};
    int count = 1;
    if (c >= 0x80)
        bytes[0] = (char)(0xC0 | c >> 6), bytes[1] = (char)(0x80 | (c & 63)), count = 2;
    if (c >= 0x800)
        bytes[0] = (char)(0xE0 | (c >> 12 & 15)), bytes[1] = (char)(0x80 | (c >> 6 & 63)),
        bytes[2] = (char)(0x80 | (c & 63)), count = 3;
    for (int i = 0; i < count && word->length < sizeof word->text; i++)
        word->text[word->length++] = bytes[i];
}

/* Appends the word, unless it is empty, and begins the next one. Unknown words beside each other
 * are one token. */
static bool end_word(const Tokenizer *t, Word *word, Ids *ids, Ids *begin, size_t first,
                     size_t next)
{
    int id = word->length ? find(t, word->text, word->length) : ID_UNKNOWN;
    bool joined =
        ids->count > first && ids->id[ids->count - 1] == ID_UNKNOWN && id == ID_UNKNOWN;
    bool good = true;
    if (word->length && !joined) {
        good = GROW(ids->id, ids->size, ids->count + 1) &&
               (!begin || GROW(begin->id, begin->size, begin->count + 1));
        if (good) ids->id[ids->count++] = id;
        if (good && begin) begin->id[begin->count++] = (int32_t)word->begin;
    }
    if (word->length || !joined) word->begin = next;
    word->length = 0;
    return good;
}

bool tokenizer_encode_begins(const Tokenizer *t, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error)
{
    Word word = {.length = 0};
    size_t first = ids->count;
    bool good = true;
    for (size_t i = 0, bytes; good && i < length; i += bytes) {
        unsigned c, next = 0;
        bytes = (size_t)utf8_next(text + i, &c);
        if (i + bytes < length) utf8_next(text + i + bytes, &next);
        c = lower(c);
        bool space = c <= ' ' || c == 0xA0, alone = is_mark(c) && !is_inside(c, next);
        if (space || alone) good = end_word(t, &word, ids, begin, first, i);
        if (!space) put(&word, c);
        if (good && (alone || c == '\''))
            good = end_word(t, &word, ids, begin, first, i + bytes);
    }
    return (good && end_word(t, &word, ids, begin, first, length)) ||
           error_set(error, "not enough memory for a text's tokens");
}

bool tokenizer_encode(const Tokenizer *t, Ids *ids, const char *text, size_t length,
                      Error *error)
{
    return tokenizer_encode_begins(t, ids, NULL, text, length, error);
}

/* ---- decoding ---- */

/* A word without the space before it: after an apostrophe, and these marks. */
static bool is_glued(const char *text, size_t length, const char *piece)
{
    const char *word = piece + SPACE_BYTES;
    return !length || text[length - 1] == '\'' || text[length - 1] == '(' ||
           !strcmp(word, ".") || !strcmp(word, ",") || !strcmp(word, ")");
}

bool tokenizer_decode_unknown(const Tokenizer *t, char **text, const int32_t *id, size_t count,
                              const char *const *unknown, Error *error)
{
    size_t size = 0, length = 0;
    *text = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *piece = tokenizer_piece(t, id[i]), *own = unknown ? unknown[i] : NULL;
        if (id[i] == ID_END || id[i] == t->count) piece = "";
        if (id[i] == ID_UNKNOWN) piece = own ? own : " ⁇";
        bool word = id[i] > ID_UNKNOWN && *piece;
        if (word && !is_glued(*text, length, piece) && GROW(*text, size, length + 1))
            (*text)[length++] = ' ';
        if (word) piece += SPACE_BYTES;
        else if (!length && *piece == ' ') piece++;
        size_t bytes = strlen(piece);
        if (!GROW(*text, size, length + bytes + 2))
            return free(*text), *text = NULL, error_set(error, "not enough memory for a text");
        memcpy(*text + length, piece, bytes + 1);
        length += bytes;
    }
    return *text || (*text = strdup("")) || error_set(error, "not enough memory for a text");
}

bool tokenizer_decode(const Tokenizer *t, char **text, const int32_t *id, size_t count,
                      Error *error)
{
    return tokenizer_decode_unknown(t, text, id, count, NULL, error);
}
