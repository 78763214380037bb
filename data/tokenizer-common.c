/* tokenizer-common.c -- what SentencePiece's tokenizer (tokenizer.cc) and that of the page
 * (library/web/tokenizer.c) do alike. */
#include "base/packed.h"
#include "base/utf8.h"
#include "data/sentencepiece.h"
#include "data/tokenizer.h"
#include "data/words.h"

#include <stdlib.h>

size_t tokenizer_mark(const char *text)
{
    static const char *const quotes[] = {"«", "»", "“", "”"};
    for (int i = 0; i < 4; i++)
        if (!strncmp(text, quotes[i], strlen(quotes[i]))) return strlen(quotes[i]);
    return *text && strchr(".,:;?!()\"", *text);
}

bool unknown_push(Ids *ids, Ids *begin, const char *text, size_t place, size_t end)
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

int pieces_placeholder(const Pieces *pieces)
{
    bool word = pieces->model_type - 1 == TOKENIZER_WORD;
    const char *format = word ? TOKENIZER_SPACE "<ph%d>" : "<ph%d>";
    return pieces_row(pieces, PIECE_USER_DEFINED, format, 1, PLACEHOLDERS);
}

int pieces_first_byte(const Pieces *pieces)
{
    return pieces_row(pieces, PIECE_BYTE, "<0x%02X>", 0, 256);
}

bool piece_goes_on(TokenizerType type, const char *piece)
{
    unsigned code;
    if (type == TOKENIZER_WORD || type == TOKENIZER_CHAR) return false;
    utf8_next(piece, &code);
    return strncmp(piece, TOKENIZER_SPACE, strlen(TOKENIZER_SPACE)) && words_letter(code);
}
