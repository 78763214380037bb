/* lattice.c -- a cut of a text drawn from the unigram language model; see lattice.h.
 *
 * A user-defined piece is one token wherever it stands: nothing else begins, ends or passes
 * there. */
#include "data/lattice.h"

#include "base/grow.h"
#include "data/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const float UNKNOWN_COSTS = 10;

static int characters(const Piece *piece)
{
    int count = 0;
    for (size_t at = 0; at < piece->length; count++)
        at += text_character(piece->text + at, piece->length - at);
    return count;
}

void lattice_init(Lattice *lattice, const Pieces *pieces, const TextMap *symbols, double alpha)
{
    *lattice = (Lattice){.pieces = pieces, .symbols = symbols, .alpha = alpha, .longest = 1};
    float least = FLT_MAX;
    for (int i = 0; i < pieces->count; i++) {
        const Piece *piece = &pieces->piece[i];
        if (piece->type != PIECE_NORMAL) continue;
        int length = characters(piece);
        if (length > lattice->longest) lattice->longest = length;
        if (piece->score < least) least = piece->score;
    }
    lattice->unknown = (least == FLT_MAX ? 0 : least) - UNKNOWN_COSTS;
}

void lattice_free(Lattice *lattice)
{
    free(lattice->first);
    free(lattice->arc);
    free(lattice->log_f);
    *lattice = (Lattice){0};
}

static bool is_type(const Lattice *lattice, uint32_t symbol, PieceType type)
{
    return symbol < (uint32_t)lattice->pieces->count &&
           lattice->pieces->piece[symbol].type == type;
}

static bool no_memory(Error *error)
{
    return error_set(error, "not enough memory to cut text at random");
}

/* An arc, with the logarithm of F(from) p^alpha for upto. */
static bool add_arc(Lattice *lattice, uint32_t symbol, int from, double score, Error *error)
{
    if (!GROW(lattice->arc, lattice->arc_room, lattice->arcs + 1)) return no_memory(error);
    lattice->arc[lattice->arcs++] =
        (Arc){symbol, (uint32_t)from, lattice->log_f[from] + lattice->alpha * score};
    return true;
}

/* All arcs that end behind symbol e - 1. */
static bool add_arcs(Lattice *lattice, const uint32_t *symbol, const char *text,
                     const uint32_t *start, int e, Error *error)
{
    bool single = false;
    for (int from = e - 1; from >= 0 && e - from <= lattice->longest; from--) {
        if (is_type(lattice, symbol[from], PIECE_USER_DEFINED)) break;
        uint32_t piece =
            textmap_find(lattice->symbols, text + start[from], start[e] - start[from]);
        if (!is_type(lattice, piece, PIECE_NORMAL)) continue;
        single = single || from == e - 1;
        if (!add_arc(lattice, piece, from, lattice->pieces->piece[piece].score, error))
            return false;
    }
    if (single) return true;
    uint32_t flag = is_type(lattice, symbol[e - 1], PIECE_USER_DEFINED) ? 0 : LATTICE_UNKNOWN;
    return add_arc(lattice, symbol[e - 1] | flag, e - 1, lattice->unknown, error);
}

/* Turns logarithms of the arcs first .. arcs-1 into chances up to them; returns log F. */
static double normalise(Lattice *lattice, size_t first)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = first; i < lattice->arcs; i++) most = fmax(most, lattice->arc[i].upto);
    for (size_t i = first; i < lattice->arcs; i++) sum += exp(lattice->arc[i].upto - most);
    double log_f = most + log(sum), upto = 0;
    for (size_t i = first; i < lattice->arcs; i++) {
        upto += exp(lattice->arc[i].upto - log_f);
        lattice->arc[i].upto = upto;
    }
    lattice->arc[lattice->arcs - 1].upto = 1;
    return log_f;
}

bool lattice_add(Lattice *lattice, size_t *place, const uint32_t *symbol, const char *text,
                 const uint32_t *start, int n, Error *error)
{
    if (!GROW(lattice->first, lattice->first_room, lattice->firsts + (size_t)n + 2) ||
        !GROW(lattice->log_f, lattice->log_f_room, (size_t)n + 1))
        return no_memory(error);
    *place = lattice->firsts;
    size_t *first = lattice->first + lattice->firsts;
    lattice->log_f[0] = 0;
    first[0] = lattice->arcs;
    for (int e = 1; e <= n; e++) {
        first[e] = lattice->arcs;
        if (!add_arcs(lattice, symbol, text, start, e, error)) return false;
        lattice->log_f[e] = normalise(lattice, first[e]);
    }
    first[n + 1] = lattice->arcs;
    lattice->firsts += (size_t)n + 2;
    return true;
}

int lattice_draw(const Lattice *lattice, size_t place, uint32_t *symbol, int n, Rng *rng)
{
    const size_t *first = lattice->first + place;
    int to = n;
    for (int e = n; e > 0;) {
        const Arc *arc = lattice->arc + first[e];
        if (first[e + 1] - first[e] > 1) {
            double u = rng_uniform(rng);
            while (arc->upto <= u && arc + 1 < lattice->arc + first[e + 1]) arc++;
        }
        symbol[--to] = arc->symbol;
        e = (int)arc->from;
    }
    return to;
}
