/* subwords.c -- sentences that can be cut into tokens again and again; see subwords.h.
 *
 * What is kept of a unit, in one array of numbers, from `unit[u]` on:
 *
 *     n         symbols
 *     m         merges of the usual cut (bpe), or the place in the lattice (unigram)
 *     k         ids of the usual cut (bpe)
 *     symbol    [n]
 *     id        [k]
 *
 * A symbol is a character or a user-defined piece; number i below the number of pieces is piece i,
 * those above are characters without a piece. With dropout P the usual cut of m merges comes out
 * with probability (1-P)^m at least, namely if none is dropped: this is drawn first, and saves most
 * of the work (29,000 pairs of Multi30k: see resampler.h). */
#include "data/subwords.h"

#include "base/grow.h"
#include "base/packed.h"
#include "data/bpe.h"
#include "data/lattice.h"
#include "data/pairmap.h"
#include "data/text.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { N, MERGES, IDS, HEAD };  // of a unit; behind HEAD are its symbols, then its ids

struct Subwords {
    Pieces pieces;
    TextMap symbols;
    PairMap beside;     // pairs of characters that stand side by side in a piece
    bool whole;         // units are whole sentences
    int longest_user;   // bytes of the longest user-defined piece, 0: there is none
    int32_t byte[256];  // ids of the bytes, with byte fallback
    Bpe *bpe;           // or NULL
    Lattice lattice;    // if bpe is NULL
    uint64_t below;     // P · 2^32
    TextMap texts;      // of the units, until subwords_close
    size_t *unit;       // [units]
    size_t units, unit_room;
    uint32_t *number;
    size_t numbers, number_room;
    uint32_t *symbol;  // [symbol_room] scratch
    uint32_t *start;   // [start_room]
    size_t symbol_room, start_room;
};

static bool no_memory(Error *error)
{
    return error_set(error, "not enough memory to cut text at random");
}

/* A character as a number: its bytes. */
static uint32_t character(const char *text, size_t length)
{
    uint32_t c = 0;
    for (size_t i = 0; i < length; i++) c = c << 8 | (unsigned char)text[i];
    return c;
}

/* Whether a text can give the piece: not </s>, <unk> or a byte. */
static bool is_text(const Piece *piece)
{
    return piece->type == PIECE_NORMAL || piece->type == PIECE_USER_DEFINED ||
           piece->type == PIECE_UNUSED;
}

/* The symbols: pieces by their ids, then the characters in pieces that are none themselves. A
 * piece that no text gives is filed under a name that no text has. */
static bool add_pieces(Subwords *s, Error *error)
{
    uint32_t number;
    for (int i = 0; i < s->pieces.count; i++) {
        const Piece *piece = &s->pieces.piece[i];
        char name[16] = {(char)0xff};
        bool text = is_text(piece);
        memcpy(name + 1, &i, sizeof i);
        if (!textmap_add(&s->symbols, &number, text ? piece->text : name,
                         text ? piece->length : 1 + sizeof i, error))
            return false;
        if (number != (uint32_t)i) return error_set(error, "piece %d is there twice", i);
        if (piece->type == PIECE_USER_DEFINED && (int)piece->length > s->longest_user)
            s->longest_user = (int)piece->length;
        if (piece->type == PIECE_UNUSED) s->whole = true;
    }
    return true;
}

static bool add_characters(Subwords *s, Error *error)
{
    for (int i = 0; i < s->pieces.count; i++) {
        const Piece *piece = &s->pieces.piece[i];
        if (!is_text(piece)) continue;
        uint32_t number, before = 0;
        for (size_t at = 0, size; at < piece->length; at += size) {
            size = text_character(piece->text + at, piece->length - at);
            if (!textmap_add(&s->symbols, &number, piece->text + at, size, error)) return false;
            uint32_t c = character(piece->text + at, size);
            if (at > 0 && !pairmap_put(&s->beside, before, c, 1, error)) return false;
            before = c;
        }
    }
    return true;
}

static bool find_bytes(Subwords *s, Error *error)
{
    for (int b = 0; b < 256; b++) s->byte[b] = -1;
    for (int i = 0; i < s->pieces.count; i++) {
        const Piece *piece = &s->pieces.piece[i];
        if (piece->type != PIECE_BYTE || piece->length != 6) continue;  // "<0xE2>"
        long b = strtol((char[]){piece->text[3], piece->text[4], 0}, NULL, 16);
        if (b >= 0 && b < 256) s->byte[b] = i;
    }
    for (int b = 0; b < 256; b++) {
        if (s->byte[b] < 0) return error_set(error, "it has no piece for byte 0x%02x", b);
    }
    return true;
}

static bool prepare(Subwords *s, double amount, Error *error)
{
    if (!add_pieces(s, error) || !add_characters(s, error)) return false;
    if (s->pieces.byte_fallback && !find_bytes(s, error)) return false;
    if (s->pieces.kind == PIECES_UNIGRAM) {
        assert(amount > 0);
        lattice_init(&s->lattice, &s->pieces, &s->symbols, amount);
        return true;
    }
    if (s->pieces.kind != PIECES_BPE)
        return error_set(error, "only subwords (bpe, unigram) can be cut at random");
    assert(amount >= 0 && amount <= 1);
    s->below = (uint64_t)(amount * 0x1p32);
    return (s->bpe = bpe_create(&s->pieces, &s->symbols, error)) != NULL;
}

Subwords *subwords_create(const void *model, size_t size, double amount, Error *error)
{
    Subwords *s = calloc(1, sizeof *s);
    if (!s) {
        no_memory(error);
        return NULL;
    }
    if (pieces_read(&s->pieces, model, size, error) && prepare(s, amount, error)) return s;
    subwords_free(s);
    return NULL;
}

void subwords_close(Subwords *s)
{
    textmap_free(&s->texts);
    pairmap_free(&s->beside);
}

void subwords_free(Subwords *s)
{
    if (!s) return;
    subwords_close(s);
    pieces_free(&s->pieces);
    textmap_free(&s->symbols);
    bpe_free(s->bpe);
    lattice_free(&s->lattice);
    free(s->unit);
    free(s->number);
    free(s->symbol);
    free(s->start);
    free(s);
}

/* ---- adding ---- */

/* The bytes of the symbol at the beginning of the text: the longest user-defined piece, or a
 * character. */
static size_t symbol_length(const Subwords *s, const char *text, size_t length)
{
    size_t one = text_character(text, length), best = 0;
    for (size_t end = one;
         s->longest_user && end <= length && end <= (size_t)s->longest_user;) {
        uint32_t symbol = textmap_find(&s->symbols, text, end);
        if (symbol < (uint32_t)s->pieces.count &&
            s->pieces.piece[symbol].type == PIECE_USER_DEFINED)
            best = end;
        if (end == length) break;
        end += text_character(text + end, length - end);
    }
    return best ? best : one;
}

/* Writes a unit's text as symbols into the scratch; *n = how many. */
static bool to_symbols(Subwords *s, int *n, const char *text, size_t length, Error *error)
{
    size_t count = 0;
    if (!GROW(s->symbol, s->symbol_room, length) || !GROW(s->start, s->start_room, length + 1))
        return no_memory(error);
    for (size_t at = 0, size; at < length; at += size, count++) {
        size = symbol_length(s, text + at, length - at);
        s->start[count] = (uint32_t)at;
        if (!textmap_add(&s->symbols, &s->symbol[count], text + at, size, error)) return false;
    }
    s->start[count] = (uint32_t)length;
    *n = (int)count;
    return true;
}

static bool append(int32_t id, Ids *ids, size_t first, Error *error)
{
    if (id == ID_UNKNOWN && ids->count > first && ids->id[ids->count - 1] == ID_UNKNOWN)
        return true;
    if (!GROW(ids->id, ids->size, ids->count + 1)) return no_memory(error);
    ids->id[ids->count++] = id;
    return true;
}

/* The ids of symbols: of a character without a piece, <unk> or its bytes. */
static bool append_symbols(const Subwords *s, Ids *ids, size_t first, const uint32_t *symbol,
                           size_t count, Error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (symbol[i] < (uint32_t)s->pieces.count) {
            if (!append((int32_t)symbol[i], ids, first, error)) return false;
            continue;
        }
        size_t length;
        const char *text = textmap_text(&s->symbols, symbol[i] & ~LATTICE_UNKNOWN, &length);
        if (!s->pieces.byte_fallback && !append(ID_UNKNOWN, ids, first, error)) return false;
        for (size_t b = 0; b < length && s->pieces.byte_fallback; b++) {
            if (!append(s->byte[(unsigned char)text[b]], ids, first, error)) return false;
        }
    }
    return true;
}

/* What is kept of the new unit whose symbols are in the scratch. */
static bool add_unit(Subwords *s, const char *text, int n, Error *error)
{
    Ids ids = {0};
    uint32_t *number;
    int merges = 0;
    size_t place = s->numbers, room = HEAD + (size_t)n, at = 0;
    if (!GROW(s->unit, s->unit_room, s->units + 1) ||
        !GROW(s->number, s->number_room, place + room))
        return no_memory(error);
    number = s->number + place;
    memcpy(number + HEAD, s->symbol, (size_t)n * sizeof *number);
    if (s->bpe) {
        if (!bpe_reserve(s->bpe, n, error)) return false;
        int count = bpe_merge(s->bpe, s->symbol, n, NULL, &merges);
        if (!append_symbols(s, &ids, 0, s->symbol, (size_t)count, error)) return false;
    } else {
        if (!lattice_add(&s->lattice, &at, s->symbol, text, s->start, n, error)) return false;
        if (at > UINT32_MAX) return no_memory(error);
    }
    bool good = GROW(s->number, s->number_room, place + room + ids.count) || no_memory(error);
    if (good) {
        number = s->number + place;
        number[N] = (uint32_t)n;
        number[MERGES] = s->bpe ? (uint32_t)merges : (uint32_t)at;
        number[IDS] = (uint32_t)ids.count;
        if (ids.count) memcpy(number + room, ids.id, ids.count * sizeof *number);
        s->unit[s->units++] = place;
        s->numbers = place + room + ids.count;
    }
    free(ids.id);
    return good;
}

static bool add_text(Subwords *s, Units *units, const char *text, size_t length, Error *error)
{
    uint32_t number;
    int n = 0;
    if (!textmap_add(&s->texts, &number, text, length, error)) return false;
    if (number == s->units &&
        (!to_symbols(s, &n, text, length, error) || !add_unit(s, text, n, error)))
        return false;
    if (!GROW(units->unit, units->room, units->count + 1)) return no_memory(error);
    units->unit[units->count++] = number;
    return true;
}

bool subwords_add(Subwords *s, Units *units, const char *text, size_t length, Error *error)
{
    size_t from = 0;
    uint32_t before = 0;
    for (size_t at = 0, size; at < length; at += size) {
        size = text_character(text + at, length - at);
        uint32_t c = character(text + at, size);
        bool apart = at > 0 && !s->whole && pairmap_find(&s->beside, before, c) == PAIRMAP_NONE;
        if (apart) {
            if (!add_text(s, units, text + from, at - from, error)) return false;
            from = at;
        }
        before = c;
    }
    return from == length || add_text(s, units, text + from, length - from, error);
}

/* ---- drawing ---- */

static bool draw_merges(Subwords *s, Ids *ids, size_t first, const uint32_t *number, Rng *rng,
                        Error *error)
{
    BpeDrop drop = {.below = s->below, .rng = rng};
    int n = (int)number[N], merges = (int)number[MERGES];
    while (drop.sure < merges && (s->below == 0 || rng_word(rng) >= s->below)) drop.sure++;
    const uint32_t *usual = number + HEAD + n;
    if (drop.sure == merges) {
        for (uint32_t i = 0; i < number[IDS]; i++)
            if (!append((int32_t)usual[i], ids, first, error)) return false;
        return true;
    }
    memcpy(s->symbol, number + HEAD, (size_t)n * sizeof *number);
    int count = bpe_merge(s->bpe, s->symbol, n, &drop, NULL);
    return append_symbols(s, ids, first, s->symbol, (size_t)count, error);
}

bool subwords_draw(Subwords *s, Ids *ids, const uint32_t *unit, size_t count, Rng *rng,
                   Error *error)
{
    size_t first = ids->count;
    for (size_t i = 0; i < count; i++) {
        assert(unit[i] < s->units);
        const uint32_t *number = s->number + s->unit[unit[i]];
        int n = (int)number[N];
        if (s->bpe) {
            if (!draw_merges(s, ids, first, number, rng, error)) return false;
            continue;
        }
        int from = lattice_draw(&s->lattice, number[MERGES], s->symbol, n, rng);
        if (!append_symbols(s, ids, first, s->symbol + from, (size_t)(n - from), error))
            return false;
    }
    return true;
}
