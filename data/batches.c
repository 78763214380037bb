/* batches.c -- the order of an epoch, and its division into updates.
 *
 * The order is a Fisher-Yates shuffle drawn from rng_stream(seed, RNG_SHUFFLE, epoch), so every
 * permutation is equally likely (up to the 64-bit key), and no state needs saving. */
#include "data/batches.h"

#include "base/grow.h"
#include "base/rng.h"

static size_t pair_tokens(const Corpus *corpus, size_t number)
{
    PairIds pair = corpus_pair(corpus, number);
    return (size_t)pair.length[SOURCE] + (size_t)pair.length[TARGET];
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
    batches->first = malloc((corpus->pairs + 1) * sizeof *batches->first);
    return (batches->order && batches->first) ||
           error_memory(error, "to divide the corpus into updates");
}

void batches_free(Batches *batches)
{
    free(batches->order);
    free(batches->first);
    free(batches->pair);
    for (int side = 0; side < SIDES; side++) free(batches->start[side]);
    *batches = (Batches){0};
}

static void shuffle(uint32_t *order, uint32_t count, Rng rng)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t k = rng_below(&rng, i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

size_t batches_updates(Batches *batches, uint64_t epoch)
{
    if (batches->updates && batches->epoch == epoch) return batches->updates;
    const Corpus *corpus = batches->corpus;
    uint32_t pairs = (uint32_t)corpus->pairs;
    for (uint32_t i = 0; i < pairs; i++) batches->order[i] = i;
    if (!batches->in_order)
        shuffle(batches->order, pairs, rng_stream(batches->seed, RNG_SHUFFLE, epoch));

    size_t updates = 0, tokens = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        size_t more = pair_tokens(corpus, batches->order[i]);
        if (i == 0 || tokens + more > batches->batch_tokens) {
            batches->first[updates++] = i;
            tokens = 0;
        }
        tokens += more;
    }
    batches->first[updates] = pairs;
    batches->updates = updates;
    batches->epoch = epoch;
    return updates;
}

bool batches_update(Batches *batches, int *count, uint64_t epoch, size_t u, Error *error)
{
    batches_updates(batches, epoch);
    assert(u < batches->updates);
    uint32_t first = batches->first[u], pairs = batches->first[u + 1] - first;
    if (!GROW(batches->pair, batches->pair_size, pairs))
        return error_memory(error, "to divide the corpus into updates");
    for (uint32_t i = 0; i < pairs; i++)
        batches->pair[i] = corpus_pair(batches->corpus, batches->order[first + i]);
    *count = (int)pairs;
    return true;
}

bool batches_packed(Batches *batches, Packed *source, Packed *target, size_t first, size_t end,
                    Error *error)
{
    Packed *packed[SIDES] = {source, target};
    assert(first <= end && end <= batches->corpus->pairs);
    for (int side = 0; side < SIDES; side++) {
        const size_t *from = batches->corpus->start[side] + first;
        size_t sentences = end - first, rows = from[sentences] - from[0];
        if (rows > INT_MAX) return error_set(error, "a batch has more than %d tokens", INT_MAX);
        if (!GROW(batches->start[side], batches->start_size[side], sentences + 1))
            return error_memory(error, "to divide the corpus into updates");
        int *start = batches->start[side];
        for (size_t i = 0; i <= sentences; i++) start[i] = (int)(from[i] - from[0]);
        *packed[side] =
            (Packed){(int)sentences, (int)rows, batches->corpus->id[side] + from[0], start};
    }
    return true;
}
