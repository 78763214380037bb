/* bpe.c -- byte pair encoding, with merges that are left out at random; see bpe.h.
 *
 * The symbols are a linked list in an array; a pair is known by the place of its left symbol.
 * Every possible merge is a key, rank · 2^32 + place, rank 0 being the best score, in a leaf of a
 * tournament tree: an inner node holds the smaller of its two children.
 *
 *     tree[1]                    the best merge
 *     tree[i]                    min(tree[2i], tree[2i+1])
 *     tree[leaves + place]       the merge of the pair at that place, or NONE
 *
 * A merge changes three leaves: its own, that of the pair before it, and that of the symbol which
 * is gone. To drop a merge its leaf is cleared until the step is over. Since a lower merge is only
 * looked at when the better ones are dropped, one number is drawn for each merge that is looked
 * at, and the others need none.
 *
 * An unused piece is merged like any other, and split again in the end, into the two symbols that
 * last offered to become it; that is what SentencePiece does. */
#include "data/bpe.h"

#include "data/pairmap.h"
#include "data/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT64_MAX

typedef struct Split {
    uint32_t left, right;
} Split;

struct Bpe {
    PairMap join;    // two symbols to the piece that they make
    uint32_t *rank;  // [pieces] 0 the best score; equal scores have equal ranks
    Split *split;    // [pieces] of unused ones, or NULL if there are none
    bool *unused;    // [pieces] of two characters or more
    uint32_t pieces;
    /* scratch for one text */
    int room;
    size_t leaves;       // a power of two
    uint64_t *tree;      // [2 · room up to a power of two]
    int *before, *next;  // [room] the list
    uint32_t *joined;    // [room] what the pair at a place would become
    uint64_t *dropped;   // [room] keys that are aside for this step
    uint32_t *whole;     // [room] symbols before they are split
};

static int by_score(const void *a, const void *b)
{
    const Piece *x = *(const Piece *const *)a, *y = *(const Piece *const *)b;
    return (x->score < y->score) - (x->score > y->score);
}

static bool rank_pieces(Bpe *bpe, const Pieces *pieces, Error *error)
{
    size_t count = (size_t)pieces->count;
    const Piece **order = malloc(count * sizeof *order);
    if (!order) return error_set(error, "not enough memory for %zu pieces", count);
    for (size_t i = 0; i < count; i++) order[i] = &pieces->piece[i];
    qsort(order, count, sizeof *order, by_score);
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && order[i]->score < order[i - 1]->score) rank++;
        bpe->rank[order[i] - pieces->piece] = rank;
    }
    free(order);
    return true;
}

static bool is_character(const Piece *piece)
{
    return piece->length == text_character(piece->text, piece->length);
}

/* Whether a symbol can be a part of a merge: a piece of that kind, or a character without one. */
static bool can_merge(const Pieces *pieces, uint32_t symbol)
{
    if (symbol == TEXTMAP_NONE) return false;
    if (symbol >= (uint32_t)pieces->count) return true;
    PieceType type = pieces->piece[symbol].type;
    return type == PIECE_NORMAL || type == PIECE_UNUSED;
}

/* All ways to make a piece of two symbols. */
static bool join_pieces(Bpe *bpe, const Pieces *pieces, const TextMap *symbols, Error *error)
{
    for (uint32_t id = 0; id < bpe->pieces; id++) {
        const Piece *piece = &pieces->piece[id];
        if (!can_merge(pieces, id)) continue;
        for (size_t at = 1; at < piece->length; at++) {
            uint32_t left = textmap_find(symbols, piece->text, at);
            if (!can_merge(pieces, left)) continue;
            uint32_t right = textmap_find(symbols, piece->text + at, piece->length - at);
            if (!can_merge(pieces, right)) continue;
            if (!pairmap_put(&bpe->join, left, right, id, error)) return false;
        }
    }
    return true;
}

Bpe *bpe_create(const Pieces *pieces, const TextMap *symbols, Error *error)
{
    Bpe *bpe = calloc(1, sizeof *bpe);
    size_t count = (size_t)pieces->count;
    if (bpe) {
        bpe->pieces = (uint32_t)count;
        bpe->rank = malloc(count * sizeof *bpe->rank);
        bpe->unused = calloc(count, sizeof *bpe->unused);
        bpe->split = calloc(count, sizeof *bpe->split);
    }
    if (!bpe || !bpe->rank || !bpe->unused || !bpe->split) {
        error_set(error, "not enough memory for %zu pieces", count);
        bpe_free(bpe);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        bpe->unused[i] =
            pieces->piece[i].type == PIECE_UNUSED && !is_character(&pieces->piece[i]);
    if (rank_pieces(bpe, pieces, error) && join_pieces(bpe, pieces, symbols, error)) return bpe;
    bpe_free(bpe);
    return NULL;
}

static void scratch_free(Bpe *bpe)
{
    free(bpe->tree);
    free(bpe->before);
    free(bpe->next);
    free(bpe->joined);
    free(bpe->dropped);
    free(bpe->whole);
}

void bpe_free(Bpe *bpe)
{
    if (!bpe) return;
    pairmap_free(&bpe->join);
    free(bpe->rank);
    free(bpe->unused);
    free(bpe->split);
    scratch_free(bpe);
    free(bpe);
}

static size_t power_of_two(int n)
{
    size_t size = 1;
    while (size < (size_t)n) size *= 2;
    return size;
}

bool bpe_reserve(Bpe *bpe, int symbols, Error *error)
{
    if (symbols <= bpe->room) return true;
    size_t room = power_of_two(symbols);
    scratch_free(bpe);
    bpe->room = (int)room;
    bpe->tree = malloc(2 * room * sizeof *bpe->tree);
    bpe->before = malloc(room * sizeof *bpe->before);
    bpe->next = malloc(room * sizeof *bpe->next);
    bpe->joined = malloc(room * sizeof *bpe->joined);
    bpe->dropped = malloc(room * sizeof *bpe->dropped);
    bpe->whole = malloc(room * sizeof *bpe->whole);
    if (bpe->tree && bpe->before && bpe->next && bpe->joined && bpe->dropped && bpe->whole)
        return true;
    bpe->room = 0;
    return error_set(error, "not enough memory to cut a text of %d characters", symbols);
}

/* The key of the merge at a place, if there is one. */
static uint64_t offer(Bpe *bpe, const uint32_t *symbol, int n, int at)
{
    int right = bpe->next[at];
    if (right == n) return NONE;
    uint32_t piece = pairmap_find(&bpe->join, symbol[at], symbol[right]);
    if (piece == PAIRMAP_NONE) return NONE;
    bpe->joined[at] = piece;
    if (bpe->unused[piece]) bpe->split[piece] = (Split){symbol[at], symbol[right]};
    return (uint64_t)bpe->rank[piece] << 32 | (uint32_t)at;
}

static void put(Bpe *bpe, int place, uint64_t key)
{
    uint64_t *tree = bpe->tree;
    size_t at = bpe->leaves + (size_t)place;
    if (tree[at] == key) return;
    for (tree[at] = key; at > 1; at /= 2) {
        uint64_t a = tree[at], b = tree[at ^ 1], best = a < b ? a : b;
        if (tree[at / 2] == best) return;
        tree[at / 2] = best;
    }
}

static void begin(Bpe *bpe, const uint32_t *symbol, int n)
{
    bpe->leaves = power_of_two(n);
    for (int i = 0; i < n; i++) bpe->before[i] = i - 1, bpe->next[i] = i + 1;
    for (int i = 0; i < n; i++) bpe->tree[bpe->leaves + (size_t)i] = offer(bpe, symbol, n, i);
    for (size_t i = (size_t)n; i < bpe->leaves; i++) bpe->tree[bpe->leaves + i] = NONE;
    for (size_t i = bpe->leaves - 1; i > 0; i--) {
        uint64_t a = bpe->tree[2 * i], b = bpe->tree[2 * i + 1];
        bpe->tree[i] = a < b ? a : b;
    }
}

/* The merge of step number `step`, or NONE. */
static uint64_t choose(Bpe *bpe, const BpeDrop *drop, int step)
{
    int aside = 0;
    uint64_t best;
    while ((best = bpe->tree[1]) != NONE && drop && step >= drop->sure) {
        bool known = step == drop->sure && aside == 0;
        if (!known && rng_word(drop->rng) >= drop->below) break;
        bpe->dropped[aside++] = best;
        put(bpe, (int)(uint32_t)best, NONE);
    }
    if (best == NONE) return NONE;
    while (aside > 0) {
        uint64_t key = bpe->dropped[--aside];
        put(bpe, (int)(uint32_t)key, key);
    }
    return best;
}

static void merge(Bpe *bpe, uint32_t *symbol, int n, int left)
{
    int right = bpe->next[left], before = bpe->before[left], behind = bpe->next[right];
    symbol[left] = bpe->joined[left];
    bpe->next[left] = behind;
    if (behind < n) bpe->before[behind] = left;
    put(bpe, right, NONE);
    if (before >= 0) put(bpe, before, offer(bpe, symbol, n, before));
    put(bpe, left, offer(bpe, symbol, n, left));
}

/* Writes a symbol, or what it was made of if it is unused; returns the end. */
static uint32_t *split_unused(const Bpe *bpe, uint32_t *to, uint32_t symbol)
{
    while (symbol < bpe->pieces && bpe->unused[symbol]) {
        to = split_unused(bpe, to, bpe->split[symbol].left);
        symbol = bpe->split[symbol].right;
    }
    *to++ = symbol;
    return to;
}

int bpe_merge(Bpe *bpe, uint32_t *symbol, int n, const BpeDrop *drop, int *merges)
{
    assert(n <= bpe->room);
    int step = 0;
    if (merges) *merges = 0;
    if (n == 0) return 0;
    begin(bpe, symbol, n);
    for (uint64_t best; (best = choose(bpe, drop, step)) != NONE; step++)
        merge(bpe, symbol, n, (int)(uint32_t)best);
    int count = 0;
    for (int i = 0; i < n; i = bpe->next[i]) bpe->whole[count++] = symbol[i];
    uint32_t *end = symbol;
    for (int i = 0; i < count; i++) end = split_unused(bpe, end, bpe->whole[i]);
    if (merges) *merges = step;
    return (int)(end - symbol);
}
