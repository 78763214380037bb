/* bpe.h -- byte pair encoding, with merges that are left out at random.
 *
 *   merge     two neighbours whose joined text is a piece become that piece
 *   which     the pair whose piece has the best score; of equal ones the leftmost
 *   dropout   at every step each possible merge is left out with probability P, independently;
 *             the best of those that are left is done; when none is left, that is the end
 *
 * Sennrich et al. 2016 (arXiv 1508.07909); Provilkov et al. 2020 (arXiv 1910.13267), algorithm 1.
 * With P = 0 the cut is SentencePiece's, piece by piece. With P > 0 it is the paper's, which is
 * not quite SentencePiece's: the latter leaves a merge out once and for all, where the paper
 * gives it another chance at the next step. With P = 1 nothing is merged. */
#ifndef DATA_BPE_H
#define DATA_BPE_H

#include "base/rng.h"
#include "data/sentencepiece.h"
#include "data/textmap.h"

typedef struct Bpe Bpe;

/* symbols: the texts that merges begin and end with; number i < pieces->count is piece i, the
 * others are characters without a piece. Both are read here and not kept. */
Bpe *bpe_create(const Pieces *pieces, const TextMap *symbols, Error *error);
void bpe_free(Bpe *bpe);

/* Makes room for texts of so many symbols. */
bool bpe_reserve(Bpe *bpe, int symbols, Error *error);

/* How often to drop: a merge is left out if a word of the generator is below `below` (P · 2^32).
 * The first `sure` steps drop nothing, and step number `sure` drops its best merge. */
typedef struct BpeDrop {
    uint64_t below;
    int sure;
    Rng *rng;
} BpeDrop;

/* Merges symbol[0..n) in place; drop: NULL for P = 0. *merges (if given) = how many merges were
 * done. Returns the number of tokens, which may be larger than n - *merges where the model has
 * unused pieces: a merge that ended in one is undone. n at most what was reserved. */
int bpe_merge(Bpe *bpe, uint32_t *symbol, int n, const BpeDrop *drop, int *merges);

#endif
