/* synthetic.c -- draws lengths and tokens; see synthetic.h. */
#include "benchmark/synthetic.h"

#include <math.h>
#include <stdlib.h>

#include "base/packed.h"

enum { SHORTEST_SOURCE = 5, SHORTEST_TARGET = 3, FIRST_ID = ID_UNKNOWN + 1 };

/* Of the 29,000 pairs, how many have a source of 5, 6, … tokens. */
static const uint32_t SOURCE_LENGTHS[] = {
    5,    25,  152, 601, 1333, 1892, 2521, 3015, 2925, 2777, 2612, 2221, 1833, 1527, 1228,
    1009, 797, 590, 446, 390,  265,  214,  147,  129,  83,   66,   48,   31,   27,   16,
    14,   11,  11,  7,   7,    6,    8,    5,    1,    2,    2,    0,    0,    0,    1};
enum { SOURCE_LENGTH_COUNT = sizeof SOURCE_LENGTHS / sizeof *SOURCE_LENGTHS };

static int draw_source(Rng *rng)
{
    uint32_t total = 0;
    for (int i = 0; i < SOURCE_LENGTH_COUNT; i++) total += SOURCE_LENGTHS[i];
    uint32_t place = rng_below(rng, total);
    int i = 0;
    while (place >= SOURCE_LENGTHS[i]) place -= SOURCE_LENGTHS[i++];
    return SHORTEST_SOURCE + i;
}

static int draw_target(Rng *rng, int source)
{
    double length = 0.8 + 0.97 * source + (0.65 + 0.13 * source) * rng_normal(rng);
    return length < SHORTEST_TARGET ? SHORTEST_TARGET : (int)lround(length);
}

/* cumulative [count] (=) the probability of ranks 1 .. r+1. free() it. */
static double *token_frequencies(int count, Error *error)
{
    double *cumulative = malloc((size_t)count * sizeof *cumulative), sum = 0;
    if (!cumulative) {
        error_memory(error, "for a vocabulary of %d", count);
        return NULL;
    }
    for (int r = 0; r < count; r++) cumulative[r] = sum += pow(r + 1 + 1.9, -1.08);
    for (int r = 0; r < count; r++) cumulative[r] /= sum;
    return cumulative;
}

/* The first rank whose cumulative probability exceeds a uniform number. */
static int draw_token(Rng *rng, const double *cumulative, int count)
{
    double place = rng_uniform(rng);
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (cumulative[middle] > place) high = middle;
        else low = middle + 1;
    }
    return low;
}

bool synthetic_corpus(Corpus *corpus, size_t pairs, int length, int vocab, uint64_t seed,
                      Error *error)
{
    int tokens = vocab - FIRST_ID - 1;  // neither </s>, <unk> nor <pad>
    double *cumulative = token_frequencies(tokens, error);
    *corpus = (Corpus){.pairs = pairs, .vocab_size = {vocab, vocab}};
    bool good = cumulative;
    for (int side = 0; side < SIDES && good; side++)
        good = (corpus->start[side] = calloc(pairs + 1, sizeof *corpus->start[side]));
    Rng rng = rng_stream(seed, RNG_TEST, 0);
    for (size_t i = 0; i < pairs && good; i++) {
        int n = length ? length : draw_source(&rng), m = length ? length : draw_target(&rng, n);
        corpus->start[SOURCE][i + 1] = corpus->start[SOURCE][i] + (size_t)n;
        corpus->start[TARGET][i + 1] = corpus->start[TARGET][i] + (size_t)m;
    }
    for (int side = 0; side < SIDES && good; side++) {
        const size_t *start = corpus->start[side];
        int32_t *id = corpus->id[side] = malloc(start[pairs] * sizeof *id);
        good = id;
        for (size_t i = 0; i < pairs && good; i++) {
            for (size_t t = start[i]; t + 1 < start[i + 1]; t++)
                id[t] = FIRST_ID + draw_token(&rng, cumulative, tokens);
            id[start[i + 1] - 1] = ID_END;
        }
    }
    free(cumulative);
    if (good) return true;
    corpus_free(corpus);
    return error_memory(error, "for a corpus of %zu pairs", pairs);
}
