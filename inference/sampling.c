/* sampling.c -- weights, the few that count, and one of them.
 *
 * One of them: the tokens are halved again and again, and a random number of its own says each time
 * which half it is in, with the halves' weights as their chances:
 *
 *     P(left) = Σ left / Σ both            ⌈log2 C⌉ times; the product of the chances is q(c)
 *
 * Walking along the running sum of all weights up to u instead would be simpler, but an error in an
 * early weight moves all C borders behind it: of 4,000 sentences sampled so from a model of Multi30k
 * with 8,000 tokens, 28 came out differently with --batch-rows 1 than with 128. Here an error moves
 * the one border of each halving, and none did.
 *
 * The few that count, with top-k and top-p: tokens that may be among them go into a heap, and the
 * most probable are taken off one by one until there are k, or p is reached, so that nothing sorts
 * the vocabulary. What may be among them:
 *
 *   top-k   a weight that is no less than the k-th largest maximum of 64-token blocks: at least k
 *           tokens are, so the k largest are among them
 *   top-p   q(c) >= (1 - p) / C: the others are fewer than C, so they have less than 1 - p together,
 *           and those that are left more than p */
#include "inference/sampling.h"

#include <math.h>
#include <string.h>

#include "kernels/vecexp.h"

enum { BLOCK = 64, STEP_BITS = 13, SAMPLE_BITS = 26 };

static int blocks_of(int C)
{
    return (C + BLOCK - 1) / BLOCK;
}

void sampling_layout(Sampling *sampling, Arena *arena, int C)
{
    sampling->weight = ARENA_TAKE(arena, real, (size_t)C);
    sampling->before = ARENA_TAKE(arena, double, (size_t)blocks_of(C) + 1);
    sampling->share = ARENA_TAKE(arena, Share, (size_t)C);
}

/* A stream's first counter says which of its numbers come next: 2^13 fours for every place. */
Rng sampling_rng(uint64_t seed, uint64_t line, int sample, int step)
{
    Rng rng = rng_stream(seed, RNG_SAMPLE, line);
    rng.counter[0] = ((uint32_t)sample << SAMPLE_BITS) + ((uint32_t)step << STEP_BITS);
    return rng;
}

/* weight [C] (=) */
static void weigh(real *weight, const real *z, int C, double temperature)
{
    real largest = search_maximum(z, C), scale = (real)(1 / temperature);
#pragma omp simd
    for (int c = 0; c < C; c++)
        weight[c] = z[c] == -INFINITY ? 0 : vec_exp((z[c] - largest) * scale);
}

/* before [blocks+1] (=); returns the sum of all. */
static double add_up(double *before, const real *weight, int C)
{
    int blocks = blocks_of(C);
    before[0] = 0;
    for (int b = 0; b < blocks; b++) {
        int end = b + 1 < blocks ? (b + 1) * BLOCK : C;
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int c = b * BLOCK; c < end; c++) sum += weight[c];
        before[b + 1] = before[b] + (double)sum;
    }
    return before[blocks];
}

/* ---- a heap: no share is before its parent, (place - 1) / 2 ---- */

static bool before(Share a, Share b)
{
    return a.weight > b.weight || (a.weight == b.weight && a.token < b.token);
}

static void sink(Share *heap, int count, int place)
{
    Share share = heap[place];
    for (int child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], share)) break;
        heap[place] = heap[child];
    }
    heap[place] = share;
}

static void heapify(Share *heap, int count)
{
    for (int place = count / 2 - 1; place >= 0; place--) sink(heap, count, place);
}

/* Takes the first off: it comes to stand behind the others. */
static void take_first(Share *heap, int count)
{
    Share first = heap[0];
    heap[0] = heap[count - 1];
    heap[count - 1] = first;
    sink(heap, count - 1, 0);
}

/* ---- the few that count ---- */

/* A weight that at least k tokens reach, if there are so many. share [C]: scratch. */
static real least_of_k(Share *share, const real *weight, int C, int k)
{
    int blocks = 0;
    for (int first = 0; first < C; first += BLOCK, blocks++) {
        int end = C - first < BLOCK ? C : first + BLOCK;
        real largest = weight[first];
#pragma omp simd reduction(max : largest) simdlen(16)
        for (int c = first; c < end; c++) largest = weight[c] > largest ? weight[c] : largest;
        share[blocks] = (Share){largest, blocks};
    }
    if (k > blocks) return 0;
    heapify(share, blocks);
    for (int i = 1; i < k; i++) take_first(share, blocks - i + 1);
    return share[0].weight;
}

/* share [returned] (=) the tokens whose weight is not 0 and no less than `least`, as a heap. */
static int collect(Share *share, const real *weight, int C, real least)
{
    int count = 0;
    for (int c = 0; c < C; c++)
        if (weight[c] >= least && weight[c] > 0) share[count++] = (Share){weight[c], c};
    heapify(share, count);
    return count;
}

/* Shares from the most probable on, as far as anyone asks: those taken off the heap stand behind
 * it, the first of them last. */
typedef struct Ranking {
    Share *heap;
    int count, taken;
} Ranking;

static Share ranked(Ranking *ranking, int place)
{
    while (ranking->taken <= place)
        take_first(ranking->heap, ranking->count - ranking->taken++);
    return ranking->heap[ranking->count - 1 - place];
}

/* The weights of all but the few become 0. total: Σ of all weights */
static void keep_few(Sampling *sampling, int C, double total, const SearchConfig *config)
{
    Ranking ranking = {.heap = sampling->share};
    bool top_k = config->top_k && config->top_k < C;
    real least = top_k ? least_of_k(sampling->share, sampling->weight, C, config->top_k)
                       : (real)(0.999 * (1 - config->top_p) / C * total);
    int most = ranking.count = collect(sampling->share, sampling->weight, C, least), few = 0;
    if (top_k) {
        if (most > config->top_k) most = config->top_k;
        total = 0;
        for (int i = 0; i < most; i++) total += (double)ranked(&ranking, i).weight;
    }
    for (double sum = 0; few < most && (few == 0 || sum < config->top_p * total);)
        sum += (double)ranked(&ranking, few++).weight;
    memset(sampling->weight, 0, (size_t)C * sizeof *sampling->weight);
    for (int i = 0; i < few; i++) {
        Share share = ranked(&ranking, i);
        sampling->weight[share.token] = share.weight;
    }
}

/* The interval between two neighbours of before [count+1] that the random numbers say. */
static int halve(const double *before, int count, Rng *rng)
{
    int first = 0, end = count;
    while (end - first > 1) {
        int middle = (first + end) / 2;
        double left = before[middle] - before[first], both = before[end] - before[first];
        if (rng_uniform(rng) * both < left) end = middle;
        else first = middle;
    }
    return first;
}

int sampling_draw(Sampling *sampling, const real *z, int C, Rng rng, const SearchConfig *config)
{
    weigh(sampling->weight, z, C, config->temperature);
    double total = add_up(sampling->before, sampling->weight, C), before[BLOCK + 1] = {0};
    if ((config->top_k && config->top_k < C) || config->top_p < 1) {
        keep_few(sampling, C, total, config);
        add_up(sampling->before, sampling->weight, C);
    }
    int first = halve(sampling->before, blocks_of(C), &rng) * BLOCK;
    int width = C - first < BLOCK ? C - first : BLOCK;
    for (int i = 0; i < width; i++)
        before[i + 1] = before[i] + (double)sampling->weight[first + i];
    return first + halve(before, width, &rng);
}
