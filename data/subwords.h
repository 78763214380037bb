/* subwords.h -- sentences that can be cut into tokens again and again, at random.
 *
 *   normalised text -- subwords_add --> units -- subwords_draw --> ids      (each epoch)
 *
 * A unit is a run of characters that no token crosses: text is cut between two characters that
 * never stand side by side in a piece. Where words are apart, a unit is a word at most. Units are
 * numbered as they come, each worked out once; a sentence is a list of numbers. Units do not
 * depend on one another, so cutting each at random cuts the sentence at random.
 *
 *   bpe       merges are left out with probability `amount` (bpe.h)
 *   unigram   cuts are drawn with the temperature `amount` (lattice.h)
 *
 * Runs of characters without a piece are one <unk>, or bytes, as in SentencePiece. */
#ifndef DATA_SUBWORDS_H
#define DATA_SUBWORDS_H

#include "base/rng.h"
#include "data/tokenizer.h"

typedef struct Subwords Subwords;

/* model: the bytes of one that tokenizer_load accepts, of type bpe or unigram; they must outlive
 * the subwords. amount: 0 to 1 for bpe; above 0 for unigram. */
Subwords *subwords_create(const void *model, size_t size, double amount, Error *error);
void subwords_free(Subwords *subwords);

typedef struct Units {
    uint32_t *unit;
    size_t count, room;
} Units;

/* Appends the units of a text as tokenizer_normalize gives it. */
bool subwords_add(Subwords *subwords, Units *units, const char *text, size_t length,
                  Error *error);

/* Frees what only subwords_add needs, which is not allowed from here on. */
void subwords_close(Subwords *subwords);

/* Appends the ids of a sentence, without </s>, cut with the numbers of rng. Not for two threads
 * at a time. For bpe with amount 0 they are those of tokenizer_encode. */
bool subwords_draw(Subwords *subwords, Ids *ids, const uint32_t *unit, size_t count, Rng *rng,
                   Error *error);

#endif
