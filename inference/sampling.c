/* sampling.c -- the weights of the tokens, top-k and top-p (nucleus) sampling, and the draw.
 *
 * The draw: the tokens are split in halves again and again. Each time, one random number
 * chooses a half with the halves' weights as the probabilities:
 *
 *     P(left) = Σ left / Σ both            ⌈log2 C⌉ times; their product is q(c)
 *
 * The usual method, searching the running sum of all weights for one random number, is simpler.
 * But there an error in an early weight moves all borders between later tokens: of 4,000
 * sentences sampled that way from a model of Multi30k with 8,000 tokens, 28 differed between
 * batch_rows 1 and 128. Here an error moves one border for each split, and none differed.
 *
 * Top-k and top-p: the tokens that may be among the most probable ones go into a heap. The most
 * probable ones are removed one by one, until there are k or their sum reaches p, so that the
 * vocabulary is never sorted. These tokens go into the heap:
 *
 *   top-k   those whose weight is at least the k-th largest maximum of the 64-token blocks: at
 *           least k tokens are, so the k largest are among them
 *   top-p   those with q(c) >= (1 - p) / C: the others are fewer than C, so they sum to less
 *           than 1 - p, and the tokens in the heap to more than p */
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
    sampling->heap = ARENA_TAKE(arena, TokenWeight, (size_t)C);
}

/* The first counter of the stream selects its part: 2^13 blocks of four numbers for every
 * token. */
Rng sampling_rng(uint64_t seed, uint64_t line, int sample, int step)
{
    Rng rng = rng_stream(seed, RNG_SAMPLE, line);
    rng.counter[0] = ((uint32_t)sample << SAMPLE_BITS) + ((uint32_t)step << STEP_BITS);
    return rng;
}

/* weight [C] (=) e^((z - largest) / temperature) */
static void exponentials(real *weight, const real *z, int C, double temperature)
{
    real largest = search_maximum(z, C), scale = (real)(1 / temperature);
#pragma omp simd
    for (int c = 0; c < C; c++)
        weight[c] = z[c] == -INFINITY ? 0 : vec_exp((z[c] - largest) * scale);
}

/* before [blocks+1] (=) the running sums; returns the sum of all weights. */
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

/* ---- a heap: no token ranks before its parent, (place - 1) / 2 ---- */

static bool ranks_before(TokenWeight a, TokenWeight b)
{
    return a.weight > b.weight || (a.weight == b.weight && a.token < b.token);
}

static void sink(TokenWeight *heap, int count, int place)
{
    TokenWeight moved = heap[place];
    for (int child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && ranks_before(heap[child + 1], heap[child])) child++;
        if (!ranks_before(heap[child], moved)) break;
        heap[place] = heap[child];
    }
    heap[place] = moved;
}

static void heapify(TokenWeight *heap, int count)
{
    for (int place = count / 2 - 1; place >= 0; place--) sink(heap, count, place);
}

/* Moves the first behind the other count - 1, which stay a heap. */
static void pop(TokenWeight *heap, int count)
{
    TokenWeight first = heap[0];
    heap[0] = heap[count - 1];
    heap[count - 1] = first;
    sink(heap, count - 1, 0);
}

/* ---- top-k and top-p ---- */

/* A weight that at least k tokens reach; 0 if C is too small to tell.   heap [C]: scratch */
static real least_of_k(TokenWeight *heap, const real *weight, int C, int k)
{
    int blocks = 0;
    for (int first = 0; first < C; first += BLOCK, blocks++) {
        int width = C - first < BLOCK ? C - first : BLOCK;
        heap[blocks] = (TokenWeight){search_maximum(weight + first, width), blocks};
    }
    if (k > blocks) return 0;
    heapify(heap, blocks);
    for (int i = 1; i < k; i++) pop(heap, blocks - i + 1);
    return heap[0].weight;
}

/* heap [returned] (=) the tokens with a weight > 0 and >= least. */
static int collect(TokenWeight *heap, const real *weight, int C, real least)
{
    int count = 0;
    for (int c = 0; c < C; c++)
        if (weight[c] >= least && weight[c] > 0) heap[count++] = (TokenWeight){weight[c], c};
    heapify(heap, count);
    return count;
}

/* The tokens by rank, sorted as far as needed: `taken` of them are behind the heap, in
 * reverse. */
typedef struct Ranking {
    TokenWeight *heap;
    int count, taken;
} Ranking;

static TokenWeight ranked(Ranking *ranking, int place)
{
    while (ranking->taken <= place) pop(ranking->heap, ranking->count - ranking->taken++);
    return ranking->heap[ranking->count - 1 - place];
}

/* Sets the weights of all other tokens to 0.   total: the sum of all weights */
static void keep_most_probable(Sampling *sampling, int C, double total,
                               const SearchConfig *config)
{
    Ranking ranking = {.heap = sampling->heap};
    bool top_k = config->top_k && config->top_k < C;
    real least = top_k ? least_of_k(sampling->heap, sampling->weight, C, config->top_k)
                       : (real)(0.999 * (1 - config->top_p) / C * total);
    int most = ranking.count = collect(sampling->heap, sampling->weight, C, least), kept = 0;
    if (top_k) {
        if (most > config->top_k) most = config->top_k;
        total = 0;
        for (int i = 0; i < most; i++) total += (double)ranked(&ranking, i).weight;
    }
    for (double sum = 0; kept < most && (kept == 0 || sum < config->top_p * total);)
        sum += (double)ranked(&ranking, kept++).weight;
    memset(sampling->weight, 0, (size_t)C * sizeof *sampling->weight);
    for (int i = 0; i < kept; i++) {
        TokenWeight token = ranked(&ranking, i);
        sampling->weight[token.token] = token.weight;
    }
}

/* Draws an interval between two neighbours of the running sums before [count+1]. */
static int draw_interval(const double *before, int count, Rng *rng)
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
    exponentials(sampling->weight, z, C, config->temperature);
    double total = add_up(sampling->before, sampling->weight, C), before[BLOCK + 1] = {0};
    if ((config->top_k && config->top_k < C) || config->top_p < 1) {
        keep_most_probable(sampling, C, total, config);
        add_up(sampling->before, sampling->weight, C);
    }
    int first = draw_interval(sampling->before, blocks_of(C), &rng) * BLOCK;
    int width = C - first < BLOCK ? C - first : BLOCK;
    for (int i = 0; i < width; i++)
        before[i + 1] = before[i] + (double)sampling->weight[first + i];
    return first + draw_interval(before, width, &rng);
}
