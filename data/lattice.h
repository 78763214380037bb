/* lattice.h -- a cut of a text drawn from the unigram language model.
 *
 *   P(x_1 … x_K) ∝ Π_k p(x_k)^alpha        over all ways to spell the text in pieces x_k
 *
 * Kudo 2018 (arXiv 1804.10959), with all cuts as candidates (his l = ∞): alpha 1 is the model's own
 * distribution, a smaller one is flatter, a larger one keeps closer to the most probable cut. A
 * character without a piece costs 10 more than the least probable piece, as in SentencePiece.
 *
 * For every text the distribution is worked out once:
 *
 *   F(0) = 1      F(e) = Σ F(s) p(piece s..e)^alpha              over the pieces that end at e
 *
 * and a cut is drawn from the end, a piece ending at e with the chance F(s) p^alpha / F(e)
 * (forward filtering, backward sampling). F is kept as a logarithm. */
#ifndef DATA_LATTICE_H
#define DATA_LATTICE_H

#include "base/rng.h"
#include "data/sentencepiece.h"
#include "data/textmap.h"

/* Set in the number of a symbol that is drawn as a character without a token: it has no piece, or
 * an unused one. */
#define LATTICE_UNKNOWN (UINT32_C(1) << 31)

/* A piece that ends somewhere; upto is the chance of it and of those before it in the list. */
typedef struct Arc {
    uint32_t symbol, from;
    double upto;
} Arc;

/* Texts, one behind the other: of one with n symbols, first[0 .. n+1] from its place on says where
 * the arcs that end behind symbol e - 1 begin. */
typedef struct Lattice {
    const Pieces *pieces;
    const TextMap *symbols;  // as for bpe.h
    double alpha;
    float unknown;  // score of a character without a piece
    int longest;    // symbols of the longest piece
    size_t *first;
    size_t firsts, first_room;
    Arc *arc;
    size_t arcs, arc_room;
    double *log_f;  // [log_f_room] scratch
    size_t log_f_room;
} Lattice;

/* pieces and symbols must stay where they are. */
void lattice_init(Lattice *lattice, const Pieces *pieces, const TextMap *symbols, double alpha);
void lattice_free(Lattice *lattice);

/* Adds a text: symbol [n], one a character (or a user-defined piece), of the text from start[0] to
 * start[n]. *place names it from now on. */
bool lattice_add(Lattice *lattice, size_t *place, const uint32_t *symbol, const char *text,
                 const uint32_t *start, int n, Error *error);

/* Draws symbols into symbol[0 .. n-1], from its end: they are symbol[first .. n-1], and first is
 * returned. */
int lattice_draw(const Lattice *lattice, size_t place, uint32_t *symbol, int n, Rng *rng);

#endif
