/* tokenizer.c -- data/tokenizer.h for the page, without SentencePiece: words and punctuation marks.
 *
 * The model is text, a piece a line in the order of the ids: </s>, <unk>, then "▁jane", … The text to
 * be cut becomes lower case; a mark becomes a word, and an apostrophe ends one, as the word type of
 * data/tokenizer-learning.cc has it: "L'école ?" is l' · école · ?. Unlike that, only the Latin letters
 * A to Þ and Œ change, and full-width or composed characters stay: words with them are unknown. */
#include "data/tokenizer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/packed.h"
#include "base/textstream.h"
#include "base/utf8.h"

/* A piece without U+2581. */
typedef struct Entry {
    const char *word;
    int id;
} Entry;

struct Tokenizer {
    char *text;          // the model with NUL bytes for newlines
    const char **piece;  // [count] by id
    Entry *entry;        // [words] of the pieces that begin a word, by the word
    int count, words;
};

static int by_word(const void *a, const void *b)
{
    return strcmp(((const Entry *)a)->word, ((const Entry *)b)->word);
}

Tokenizer *tokenizer_load(const void *model, size_t size, Error *error)
{
    Tokenizer *t = calloc(1, sizeof *t);
    if (t) t->text = strndup(model, size);
    if (t) t->piece = calloc(size + 1, sizeof *t->piece);
    if (t) t->entry = calloc(size + 1, sizeof *t->entry);
    if (!t || !t->text || !t->piece || !t->entry)
        return tokenizer_free(t), error_memory(error, "for a vocabulary"), NULL;
    for (char *at = t->text, *end; (end = strchr(at, '\n')); at = end + 1, t->count++) {
        *end = '\0';
        t->piece[t->count] = at;
        if (!strncmp(at, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE)))
            t->entry[t->words++] = (Entry){at + strlen(TOKENIZER_SPACE), t->count};
    }
    qsort(t->entry, (size_t)t->words, sizeof *t->entry, by_word);
    return t;
}

void tokenizer_free(Tokenizer *t)
{
    if (t) free(t->text), free(t->piece), free(t->entry);
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

int tokenizer_placeholder(const Tokenizer *t)
{
    (void)t;
    return 0;
}

const char *tokenizer_piece(const Tokenizer *t, int32_t id)
{
    assert(id >= 0 && id <= t->count);
    return id == t->count ? "<pad>" : t->piece[id];
}

const char *tokenizer_shown(const Tokenizer *t, int32_t id)
{
    return tokenizer_label(t, id);
}

/* ---- encoding ---- */

enum { WORD_BYTES = 64 };  // longer words are cut; no vocabulary has them

static unsigned lower(unsigned c)
{
    if (c == 0x2019) return '\'';
    if (c == 0x152) return 0x153;
    return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ? c + 32 : c;
}

/* Whether c is a word by itself. 3.14, 10:30 and example.org are one word each. */
static bool is_mark(unsigned c, unsigned next)
{
    bool digit = next >= '0' && next <= '9', letter = (next | 32) >= 'a' && (next | 32) <= 'z';
    if (((digit || letter) && c == '.') || (digit && (c == ',' || c == ':'))) return false;
    return (c && c < 0x80 && strchr(".,:;?!()\"", (int)c)) || c == 0xAB || c == 0xBB ||
           c == 0x201C || c == 0x201D;
}

/* word [WORD_BYTES] (=) the next word of text [length] from at on, in lower case, which changes the last
 * byte of a letter only; "" if there is none. Returns where it ends. */
static size_t next_word(char *word, const char *text, size_t length, size_t at)
{
    size_t size = 0;
    memset(word, 0, WORD_BYTES);
    for (size_t bytes; at < length; at += bytes) {
        unsigned c, read, next = 0;
        bytes = (size_t)utf8_next(text + at, &read);
        if (at + bytes < length) utf8_next(text + at + bytes, &next);
        c = lower(read);
        bool space = c <= ' ' || c == 0xA0, alone = is_mark(c, next);
        if (size && (space || alone)) return at;
        if (space) continue;
        if (size + bytes < WORD_BYTES) {
            memcpy(word + size, c == '\'' ? "'" : text + at, c == '\'' ? 1 : bytes);
            size = strlen(word);
            word[size - 1] += c == '\'' ? 0 : (char)(c - read);
        }
        if (alone || c == '\'') return at + bytes;
    }
    return at;
}

/* An unknown word is one token, and so are unknown marks beside it. */
bool tokenizer_encode_begins(const Tokenizer *t, Ids *ids, Ids *begin, const char *text,
                             size_t length, Error *error)
{
    char word[WORD_BYTES];
    bool was_unknown = false, was_word = false,
         blank = false;  // the last token; since the last word
    size_t first = 0;
    for (size_t at = 0, end; end = next_word(word, text, length, at), *word; at = end) {
        const Entry *found =
            bsearch(&(Entry){word, 0}, t->entry, (size_t)t->words, sizeof *found, by_word);
        int id = found ? found->id : ID_UNKNOWN;
        unsigned code;
        utf8_next(word, &code);
        bool unknown = id == ID_UNKNOWN, mark = is_mark(code, 0);
        if (!was_unknown || !blank) first = at;
        blank = was_unknown && (blank || text[at] == ' ' || text[at] == '\t');
        bool joined = unknown && was_unknown && (mark || !was_word || !blank);
        was_word = unknown && (!mark || (was_unknown && was_word));
        was_unknown = unknown;
        if (unknown && !mark) blank = false;
        if (joined) continue;
        if (!GROW(ids->id, ids->size, ids->count + 1) ||
            (begin && !GROW(begin->id, begin->size, begin->count + 1)))
            return error_memory(error, "for a text's tokens");
        ids->id[ids->count++] = id;
        if (begin) begin->id[begin->count++] = (int32_t)(unknown ? first : at);
    }
    return true;
}

/* ---- decoding ---- */

/* A word without the space before it: after an apostrophe, and these marks. */
static bool is_glued(char before, const char *word)
{
    return before == '\'' || before == '(' || (strchr(".,)", *word) && *word && !word[1]);
}

bool tokenizer_decode_replaced(const Tokenizer *t, char **text, const int32_t *id, size_t count,
                               const char *const *replacement, Error *error)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    char before = '\0';
    for (size_t i = 0; out && i < count; i++) {
        const char *own = id[i] == ID_UNKNOWN ? " ⁇" : tokenizer_label(t, id[i]);
        const char *word = replacement && replacement[i] ? replacement[i] : own;
        bool space = id[i] == ID_UNKNOWN ? *word == ' ' : !is_glued(before, word);
        if (id[i] == ID_END || id[i] == t->count) continue;
        if (space && before) fputc(' ', out);
        fputs(word + (*word == ' '), out);
        if (*word) before = word[strlen(word) - 1];
    }
    *text = textstream_close(&stream);
    return *text || error_memory(error, "for a text");
}
