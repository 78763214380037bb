/* shortlist.h -- the tokens that a translation may consist of: the frequent ones of the target, and
 * those that translate the tokens of the source (Jean et al. 2015, arXiv 1412.2007, §3.3). The output
 * layer and the search then have some hundreds of tokens in place of the vocabulary.
 *
 *   tokens(x) = { the frequent ones } ∪ { t : t translates x_j for a j }
 *             ∪ { x_j, with a joint vocabulary }
 *             ∪ { </s>, <unk>, the placeholders }, and the
 *             bytes 80 .. BF if there is a byte beyond ASCII
 *
 * ln p is then a distribution over these tokens alone, so it is higher than with all of them. */
#pragma once

#include "model/config.h"

typedef struct Shortlist {
    uint16_t *list;  // of each source token, the number of its targets and their ids; of </s>,
                     // which every source has, the frequent ones
    size_t count;    // numbers in list
    size_t *start;   // [sources] into list
    bool joint;      // source and target have one vocabulary
} Shortlist;

enum { SHORTLIST_MOST_VOCAB = 1 << 16 };

/* Takes list [count], malloc'ed; NULL gives {0}. Free it even if this fails: the list is not of
 * such a model. */
bool shortlist_open(Shortlist *shortlist, uint16_t *list, size_t count,
                    const ModelConfig *config, Error *error);
void shortlist_free(Shortlist *shortlist);  // allowed on {0}

/* At most how many tokens of a vocabulary of C the source id [n] gives. */
int shortlist_most(const Shortlist *shortlist, const int *id, int n, int C);

/* Adds a token to those of the source.   bits [shortlist_words(C)]: 0 before the first */
static inline void shortlist_add(uint64_t *bits, int token)
{
    bits[token / 64] |= 1ULL << token % 64;
}

/* token (=) the tokens of the source id [n] and those of shortlist_add, ascending; returns how many. The
 * bits are 0 afterwards. */
int shortlist_find(int *token, uint64_t *bits, const Shortlist *shortlist, const int *id, int n,
                   int C);

static inline size_t shortlist_words(int C)
{
    return (size_t)C / 64 + 1;
}
