/* batches.c -- the order of an epoch, and its division into updates.
 *
 * The order is a Fisher-Yates shuffle drawn from rng_stream(seed, RNG_SHUFFLE, epoch), so every
 * permutation is equally likely (up to the 64-bit key), and no state needs saving. The buffers
 * hold the largest update that any order can make: an update has at most max(batch_tokens,
 * longest pair) rows, source and target together, and a pair has at least two. */
#include "data/batches.h"

#include "base/grow.h"
#include "base/rng.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t side_tokens(const Corpus *corpus, CorpusSide side, size_t pair)
{
    return corpus->start[side][pair + 1] - corpus->start[side][pair];
}

static size_t pair_tokens(const Corpus *corpus, size_t pair)
{
    return side_tokens(corpus, SOURCE, pair) + side_tokens(corpus, TARGET, pair);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool no_memory(Error *error)
{
    return error_set(error, "out of memory while dividing the corpus into updates");
}

/* Enlarges the buffers for a batch of this size. */
static bool reserve(Batches *batches, size_t sentences, const size_t rows[SIDES], Error *error)
{
    for (int side = 0; side < SIDES; side++) {
        if (rows[side] > INT_MAX)
            return error_set(error, "a batch has more than %d tokens", INT_MAX);
        if (!GROW(batches->id[side], batches->id_size[side], rows[side]) ||
            !GROW(batches->start[side], batches->start_size[side], sentences + 1))
            return no_memory(error);
    }
    return true;
}

/* Enlarges the buffers for the largest update that any order can make. */
static bool reserve_most(Batches *batches, Error *error)
{
    const Corpus *corpus = batches->corpus;
    size_t most = batches->batch_tokens, rows[SIDES];
    for (size_t pair = 0; pair < corpus->pairs; pair++) {
        size_t tokens = pair_tokens(corpus, pair);
        if (tokens > most) most = tokens;
    }
    for (int side = 0; side < SIDES; side++)
        rows[side] = min_size(most, corpus->start[side][corpus->pairs]);
    return reserve(batches, min_size(most / 2, corpus->pairs), rows, error);
}

bool batches_init(Batches *batches, const Corpus *corpus, uint64_t seed, int batch_tokens,
                  Error *error)
{
    assert(batch_tokens > 0 && corpus->pairs > 0);
    *batches = (Batches){.corpus = corpus, .seed = seed, .batch_tokens = (size_t)batch_tokens};
    if (corpus->pairs > UINT32_MAX)
        return error_set(error, "the corpus has %zu pairs; %u at most", corpus->pairs,
                         UINT32_MAX);
    batches->order = malloc(corpus->pairs * sizeof *batches->order);
    if (batches->order ? reserve_most(batches, error) : no_memory(error)) return true;
    batches_free(batches);
    return false;
}

void batches_free(Batches *batches)
{
    free(batches->order);
    free(batches->first);
    for (int side = 0; side < SIDES; side++)
        free(batches->id[side]), free(batches->start[side]);
    *batches = (Batches){0};
}

static void shuffle(uint32_t *order, uint32_t count, Rng rng)
{
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t k = rng_below(&rng, i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

/* Update u begins at place `first` of the order. */
static bool add_update(Batches *batches, size_t u, uint32_t first, Error *error)
{
    if (!GROW(batches->first, batches->first_size, u + 1)) return no_memory(error);
    batches->first[u] = first;
    return true;
}

/* Sets order, updates and first to those of an epoch. */
static bool begin_epoch(Batches *batches, uint64_t epoch, Error *error)
{
    if (batches->updates && batches->epoch == epoch) return true;
    batches->updates = 0;
    const Corpus *corpus = batches->corpus;
    uint32_t pairs = (uint32_t)corpus->pairs;
    shuffle(batches->order, pairs, rng_stream(batches->seed, RNG_SHUFFLE, epoch));

    size_t updates = 0, tokens = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        size_t more = pair_tokens(corpus, batches->order[i]);
        if (i == 0 || tokens + more > batches->batch_tokens) {
            if (!add_update(batches, updates++, i, error)) return false;
            tokens = 0;
        }
        tokens += more;
    }
    if (!add_update(batches, updates, pairs, error)) return false;
    batches->updates = updates;
    batches->epoch = epoch;
    return true;
}

bool batches_updates(Batches *batches, size_t *updates, uint64_t epoch, Error *error)
{
    if (!begin_epoch(batches, epoch, error)) return false;
    *updates = batches->updates;
    return true;
}

/* Pairs pair[0..count), or, if pair is NULL, first .. first+count-1. */
static bool pack(Batches *batches, Packed *source, Packed *target, const uint32_t *pair,
                 size_t first, size_t count, Error *error)
{
    const Corpus *corpus = batches->corpus;
    size_t rows[SIDES] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        size_t p = pair ? pair[i] : first + i;
        assert(p < corpus->pairs);
        for (int side = 0; side < SIDES; side++) rows[side] += side_tokens(corpus, side, p);
    }
    if (count >= INT_MAX)
        return error_set(error, "a batch has more than %d sentences", INT_MAX);
    if (!reserve(batches, count, rows, error)) return false;

    Packed *packed[SIDES] = {source, target};
    for (int side = 0; side < SIDES; side++) {
        int *id = batches->id[side], *start = batches->start[side];
        start[0] = 0;
        for (size_t i = 0; i < count; i++) {
            size_t p = pair ? pair[i] : first + i, length = side_tokens(corpus, side, p);
            memcpy(id + start[i], corpus->id[side] + corpus->start[side][p],
                   length * sizeof *id);
            start[i + 1] = start[i] + (int)length;
        }
        *packed[side] = (Packed){(int)count, start[count], id, start};
    }
    return true;
}

bool batches_update(Batches *batches, Packed *source, Packed *target, uint64_t epoch, size_t u,
                    Error *error)
{
    if (!begin_epoch(batches, epoch, error)) return false;
    assert(u < batches->updates);
    uint32_t from = batches->first[u], end = batches->first[u + 1];
    return pack(batches, source, target, batches->order + from, 0, end - from, error);
}

bool batches_range(Batches *batches, Packed *source, Packed *target, size_t first, size_t end,
                   Error *error)
{
    assert(first <= end);
    return pack(batches, source, target, NULL, first, end - first, error);
}

size_t batches_fit(const Batches *batches, size_t first)
{
    const Corpus *corpus = batches->corpus;
    size_t end = first, tokens = 0;
    while (end < corpus->pairs) {
        tokens += pair_tokens(corpus, end);
        if (end > first && tokens > batches->batch_tokens) break;
        end++;
    }
    return end;
}
