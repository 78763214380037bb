/* batches.h -- the order of an epoch, and its division into updates.
 *
 *   epoch   a permutation of the pairs, by (seed, epoch); or their order in the corpus
 *   update  consecutive pairs of it: as many as fit into batch_tokens tokens, source plus
 *           target, </s> included; at least one pair
 *
 * So training can resume at any (epoch, update) without replaying the updates before it. */
#pragma once

#include "base/error.h"
#include "base/packed.h"
#include "data/corpus.h"

typedef struct Batches {
    const Corpus *corpus;
    uint64_t seed;
    size_t batch_tokens;
    bool in_order;      // the caller sets it: an epoch is the order of the corpus
    uint64_t epoch;     // of order, updates and first
    uint32_t *order;    // [pairs]
    size_t updates;     // 0: no epoch has begun
    uint32_t *first;    // [updates+1] update u is pairs order[first[u]] .. order[first[u+1]-1];
                        // allocated [pairs+1]
    PairIds *pair;      // the last update; the ids are those of the corpus
    int *start[SIDES];  // [sentences+1] of the last range that was packed
    size_t pair_size, start_size[SIDES];  // allocated
} Batches;

/* The corpus must outlive batches. */
bool batches_init(Batches *batches, const Corpus *corpus, uint64_t seed, int batch_tokens,
                  Error *error);
void batches_free(Batches *batches);

/* The number of updates in an epoch (epochs count from 0). */
size_t batches_updates(Batches *batches, uint64_t epoch);

/* batches->pair [*count] (=) update u of an epoch, counted from 0 and less than
 * batches_updates. */
bool batches_update(Batches *batches, int *count, uint64_t epoch, size_t u, Error *error);

/* The pairs first .. end-1 of the corpus, as they are packed in it; valid until the next call. */
bool batches_packed(Batches *batches, Packed *source, Packed *target, size_t first, size_t end,
                    Error *error);
