/* sampling.c -- weights, the few that count, and one of them.
 *
 * Without top-k and top-p the running sum of the weights is walked until it passes u times their
 * total. With them the tokens that may count go into a heap, and the most probable are taken off
 * one by one until there are k, or p is reached: no sort of the vocabulary. What may count:
 *
 *   top-k   a weight that is no less than the k-th largest maximum of 64-token blocks: at least k
 *           tokens are, so the k largest are among them
 *   top-p   q(c) >= (1 - p) / C: the others are fewer than C, so they have less than 1 - p together,
 *           and those that are left more than p */
#include "inference/sampling.h"

#include <math.h>

#include "base/rng.h"
#include "model/vecexp.h"

enum { BLOCK = 64, STEPS = 1 << 20 };

void sampling_layout(Sampling *sampling, Arena *arena, int C)
{
    sampling->weight = ARENA_TAKE(arena, real, (size_t)C);
    sampling->share = ARENA_TAKE(arena, Share, (size_t)C);
}

double sampling_uniform(uint64_t seed, uint64_t line, int sample, int step)
{
    Rng rng = rng_stream(seed, RNG_SAMPLE, line);
    rng.counter[0] = (uint32_t)(sample * STEPS + step);  // one block of the stream each
    return rng_uniform(&rng);
}

/* weight [C] (=); returns their sum. */
static double weigh(real *weight, const real *z, int C, double temperature)
{
    real largest = z[search_largest(z, C)], scale = (real)(1 / temperature);
    double sum = 0;
    for (int first = 0; first < C; first += BLOCK) {
        int end = C - first < BLOCK ? C : first + BLOCK;
        real part = 0;
#pragma omp simd reduction(+ : part)
        for (int c = first; c < end; c++) {
            real w = z[c] == -INFINITY ? 0 : vec_exp((z[c] - largest) * scale);
            weight[c] = w;
            part += w;
        }
        sum += part;
    }
    return sum;
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
#pragma omp simd reduction(max : largest)
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

static int draw_few(Sampling *sampling, int C, double u, double total,
                    const SearchConfig *config)
{
    Ranking ranking = {.heap = sampling->share};
    bool top_k = config->top_k && config->top_k < C;
    real least = top_k ? least_of_k(sampling->share, sampling->weight, C, config->top_k)
                       : (real)(0.999 * (1 - config->top_p) / C * total);
    int most = ranking.count = collect(sampling->share, sampling->weight, C, least), few = 0;
    if (top_k) {
        if (most > config->top_k) most = config->top_k;
        total = 0;
        for (int i = 0; i < most; i++) total += ranked(&ranking, i).weight;
    }
    double sum = 0;
    while (few < most && (few == 0 || sum < config->top_p * total))
        sum += ranked(&ranking, few++).weight;
    double left = u * sum;
    for (int i = 0; i + 1 < few; i++) {
        Share share = ranked(&ranking, i);
        left -= share.weight;
        if (left < 0) return share.token;
    }
    return ranked(&ranking, few - 1).token;
}

/* ---- all of them ---- */

static int draw_all(const real *weight, int C, double u, double total)
{
    double left = u * total;
    int last = 0;
    for (int c = 0; c < C; c++) {
        if (weight[c] == 0) continue;
        last = c;
        left -= weight[c];
        if (left < 0) break;
    }
    return last;
}

int sampling_draw(Sampling *sampling, const real *z, int C, double u,
                  const SearchConfig *config)
{
    double total = weigh(sampling->weight, z, C, config->temperature);
    bool few = (config->top_k && config->top_k < C) || config->top_p < 1;
    return few ? draw_few(sampling, C, u, total, config)
               : draw_all(sampling->weight, C, u, total);
}
