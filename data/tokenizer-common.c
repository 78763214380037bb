/* tokenizer-common.c -- see tokenizer-common.h. */
#include "data/tokenizer-common.h"

#include "base/packed.h"
#include "base/textstream.h"
#include "base/utf8.h"
#include "data/words.h"

size_t tokenizer_mark(const char *text)
{
    static const char *const quotes[] = {"«", "»", "“", "”"};
    for (int i = 0; i < 4; i++)
        if (!strncmp(text, quotes[i], strlen(quotes[i]))) return strlen(quotes[i]);
    return *text && strchr(".,:;?!()\"", *text);
}

/* Appends an unknown token for each word of text[place .. end-1], of which a tokenizer has made one piece, and
 * where each begins, unless `begin` is NULL. A word begins at the first blank after the last word. */
static bool unknown_push(Ids *ids, Ids *begin, const char *text, size_t place, size_t end)
{
    bool word = false;
    size_t blank = end;  // the first since the last word; end: none
    if (!ids_push(ids, begin, ID_UNKNOWN, place)) return false;
    for (size_t at = place; at < end; at++) {
        const bool continues = (text[at] & 0xC0) == 0x80;
        if (text[at] == ' ' || text[at] == '\t') {
            if (blank == end) blank = at;
        } else if (!continues && !tokenizer_mark(text + at)) {
            if (word && blank < end && !ids_push(ids, begin, ID_UNKNOWN, blank)) return false;
            word = true, blank = end;
        }
    }
    return true;
}

bool tokenizer_is_placeholder(const Tokenizer *t, int32_t id)
{
    int32_t which = id - t->placeholder;
    return t->placeholder && which >= 0 && which < PLACEHOLDERS;
}

bool tokenizer_push(Ids *ids, Ids *begin, const Tokenizer *t, int32_t last, int32_t id,
                    const char *text, size_t place, size_t end)
{
    if (begin && tokenizer_is_placeholder(t, last)) {
        size_t from = (size_t)begin->id[begin->count - 1];
        const char *after = from < end ? memchr(text + from, '>', end - from) : NULL;
        if (after && text + place <= after) place = (size_t)(after + 1 - text);
    }
    return id == ID_UNKNOWN ? unknown_push(ids, begin, text, place, end)
                            : ids_push(ids, begin, id, place);
}

bool tokenizer_normal_form(const Tokenizer *tokenizer, char **normal, const char *text,
                           size_t length, Error *error)
{
    Ids ids = {0};
    bool good = tokenizer_encode(tokenizer, &ids, text, length, error), known = true;
    for (size_t i = 0; i < ids.count; i++) known &= ids.id[i] != ID_UNKNOWN;
    *normal = NULL;
    if (good && known) good = tokenizer_decode(tokenizer, normal, ids.id, ids.count, error);
    free(ids.id);
    return good;
}

/* The id of the first of `count` pieces of a type that follow each other, numbered from `first`; 0:
 * there are none. */
static int pieces_row(const Pieces *pieces, PieceType type, const char *format, int first,
                      int count)
{
    for (int id = 0, found = 0; id < pieces->count; id++) {
        const Piece *piece = &pieces->piece[id];
        char wanted[32];
        size_t length = (size_t)snprintf(wanted, sizeof wanted, format, first + found);
        bool is = piece->type == type && piece->text.count == length &&
                  !memcmp(piece->text.at, wanted, length);
        found = is ? found + 1 : 0;
        if (found == count) return id + 1 - count;
    }
    return 0;
}

/* ---- a model ---- */

static const char GOES_ON[] = "·";

bool tokenizer_read(Tokenizer *t, const void *model, size_t size, Error *error)
{
    size_t bytes = 0;
    if (!(t->model = malloc(size + 1))) return error_memory(error, "for a vocabulary");
    memcpy(t->model, model, size);
    if (!pieces_read(&t->pieces, t->model, size, error)) return false;
    const Piece *piece = t->pieces.piece;
    int count = t->pieces.count;
    for (int id = 0; id < count; id++) bytes += sizeof GOES_ON + piece[id].text.count;
    t->piece = malloc((size_t)count * sizeof *t->piece + bytes);
    if (!t->piece) return error_memory(error, "for a vocabulary");
    char *to = (char *)(t->piece + count);
    t->vocab_size = count + 1;
    for (int id = 0; id < count; id++) {
        t->piece[id] = to = stpcpy(to, GOES_ON);
        to = mempcpy(to, piece[id].text.at, piece[id].text.count);
        *to++ = 0;
        if (piece[id].type == PIECE_CONTROL && !strcmp(t->piece[id], "<pad>"))
            t->vocab_size = id + 1;
    }
    const char *mark =
        tokenizer_type(t) == TOKENIZER_WORD ? TOKENIZER_SPACE "<ph%d>" : "<ph%d>";
    t->placeholder = pieces_row(&t->pieces, PIECE_USER_DEFINED, mark, 1, PLACEHOLDERS);
    t->first_byte = pieces_row(&t->pieces, PIECE_BYTE, "<0x%02X>", 0, 256);
    return true;
}

void tokenizer_close(Tokenizer *t)
{
    pieces_free(&t->pieces);
    free(t->piece);
    free(t->model);
}

int tokenizer_vocab_size(const Tokenizer *t)
{
    return t->vocab_size;
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
    assert(id >= 0 && id < t->vocab_size);
    return id == t->vocab_size - 1 ? "<pad>" : t->piece[id];
}

const char *tokenizer_shown(const Tokenizer *t, int32_t id)
{
    unsigned code;
    const char *label = tokenizer_label(t, id);
    TokenizerType type = tokenizer_type(t);
    utf8_next(label, &code);
    bool goes_on = type != TOKENIZER_WORD && type != TOKENIZER_CHAR && id > ID_UNKNOWN &&
                   id < t->vocab_size - 1 && !tokenizer_begins_word(t, id) &&
                   words_letter(code);
    return goes_on ? label - strlen(GOES_ON) : label;
}

/* ---- decoding ---- */

/* Stands for a replacement until the text is whole. A control character, which no text has in the end. */
enum { MARK = 1 };

/* Writes the text of a token. */
static void put_token(FILE *out, const Tokenizer *t, int32_t id)
{
    const Bytes *surface = &t->pieces.unknown_surface;
    const char *at = tokenizer_piece(t, id);
    int byte = t->pieces.piece[id].type == PIECE_BYTE ? tokenizer_byte(t, id) : -1;
    if (id == ID_UNKNOWN)
        for (size_t i = 0; i < surface->count; i++) putc(surface->at[i], out);
    else if (byte == MARK || strchr(at, MARK)) putc(' ', out);
    else if (byte >= 0) putc(byte, out);
    else
        while (*at)
            if (!strncmp(at, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE)))
                putc(' ', out), at += strlen(TOKENIZER_SPACE);
            else putc(*at++, out);
}

/* For free(): a text that was put together, by the rules for decoding, without the spaces around it, with
 * the replacements. */
static char *finish(const Tokenizer *t, const char *joined, size_t length,
                    const char *const *word, size_t words)
{
    TextStream stream;
    size_t spaces = 0, used = 0, count;
    const char *to;
    if (!textstream_open(&stream)) return NULL;
    for (bool begun = false; length;) {
        size_t replaced =
            normalizer_first(&t->pieces.denormalizer, &to, &count, joined, length);
        joined += replaced, length -= replaced;
        for (; count; to++, count--) {
            if (*to == ' ') {
                spaces += begun;
                continue;
            }
            for (begun = true; spaces; spaces--) putc(' ', stream.out);
            if (*to == MARK && used < words) fputs(word[used++], stream.out);
            else putc((unsigned char)*to < 0x20 ? ' ' : *to, stream.out);
        }
    }
    return textstream_close(&stream);
}

/* Whether two placeholders stand for numbers that would become one. */
static bool joins_numbers(const Tokenizer *t, const int32_t *id, const char *const *replacement)
{
    bool both = tokenizer_is_placeholder(t, id[0]) && tokenizer_is_placeholder(t, id[1]);
    return both && replacement[0] && *replacement[0] &&
           isdigit((unsigned char)replacement[0][strlen(replacement[0]) - 1]) &&
           isdigit((unsigned char)*replacement[1]);
}

bool tokenizer_decode_replaced(const Tokenizer *t, char **text, const int32_t *id, size_t count,
                               const char *const *replacement, Error *error)
{
    TextStream stream;
    FILE *out = textstream_open(&stream);
    const char **own = calloc(count + 1, sizeof *own);
    size_t words = 0;
    bool good = (out && own) || error_memory(error, "for a text");
    for (size_t i = 0; good && i < count; i++) {
        const char *word = replacement ? replacement[i] : NULL;
        if (id[i] < 0 || id[i] >= t->vocab_size)
            good = error_set(error, "there is no token %d: there are %d", (int)id[i],
                             t->vocab_size);
        else if (id[i] == ID_END || id[i] == t->vocab_size - 1 || (word && !*word)) continue;
        else if (!word) put_token(out, t, id[i]);
        else {
            bool space = id[i] == ID_UNKNOWN && *word == ' ';
            if (space || tokenizer_type(t) == TOKENIZER_WORD ||
                tokenizer_begins_word(t, id[i]) ||
                (i && joins_numbers(t, id + i - 1, replacement + i - 1)))
                putc(' ', out);
            putc(MARK, out), own[words++] = word + space;
        }
    }
    char *joined = textstream_close(&stream);
    *text = good && joined ? finish(t, joined, stream.length, own, words) : NULL;
    free(joined), free(own);
    return *text || (good && error_memory(error, "for a text"));
}
