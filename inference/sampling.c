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
 * Top-k and top-p: the vocabulary is never sorted. The tokens that may be among the most probable
 * ones are listed, and a quickselect (Hoare 1961) chooses from them. Listed are for
 *
 *   top-k   those whose weight is at least the k-th largest maximum of the 64-token blocks: at
 *           least k tokens are, so the k largest are among them
 *   top-p   those with q(c) >= (1 - p) / C: the others are fewer than C, so they sum to less
 *           than 1 - p, and the listed tokens to more than p */
#include "inference/sampling.h"

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
    sampling->list = ARENA_TAKE(arena, Best, (size_t)C);
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
    real largest = vec_maximum(z, C), scale = (real)(1 / temperature);
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

/* ---- top-k and top-p ---- */

static void swap(Best *a, Best *b)
{
    Best kept = *a;
    *a = *b, *b = kept;
}

/* Moves the largest tokens to the front of list [count], the smallest of them last: `most`, or as
 * few as sum to `enough`. Returns how many. */
static int choose(Best *list, int count, int most, double enough)
{
    int chosen = 0, end = count;
    while (chosen < end && chosen < most && enough > 0) {
        Best *pivot = &list[end - 1];
        int larger = chosen;
        double sum = 0;
        swap(&list[(chosen + end) / 2], pivot);
        for (int i = chosen; i < end - 1; i++) {
            double weight = list[i].value;
            if (weight < pivot->value || (weight == pivot->value && list[i].id >= pivot->id))
                continue;
            sum += weight;
            swap(&list[i], &list[larger++]);
        }
        swap(&list[larger], pivot);
        if (larger >= most || sum >= enough) {
            end = larger;
        } else {
            enough -= sum + list[larger].value;
            chosen = larger + 1;
        }
    }
    return chosen;
}

/* A weight that at least k tokens reach; 0 if C is too small to tell.   list [C]: scratch */
static real least_of_k(Best *list, const real *weight, int C, int k)
{
    for (int b = 0; b < blocks_of(C); b++)
        list[b] = (Best){b, vec_maximum(weight + b * BLOCK, at_most(C - b * BLOCK, BLOCK))};
    return choose(list, blocks_of(C), k, INFINITY) == k ? (real)list[k - 1].value : 0;
}

/* Sets the weights of all other tokens to 0.   total: the sum of all weights */
static void keep_most_probable(Sampling *sampling, int C, double total,
                               const SearchConfig *config)
{
    Best *list = sampling->list;
    real *weight = sampling->weight;
    bool top_k = config->top_k && config->top_k < C;
    real least = top_k ? least_of_k(list, weight, C, config->top_k)
                       : (real)(0.999 * (1 - config->top_p) / C * total);
    int count = 0;
    for (int c = 0; c < C; c++)
        if (weight[c] >= least && weight[c] > 0) list[count++] = (Best){c, weight[c]};
    if (top_k) {
        count = choose(list, count, config->top_k, INFINITY);
        total = 0;
        for (int i = 0; i < count; i++) total += list[i].value;
    }
    count = choose(list, count, count, config->top_p < 1 ? config->top_p * total : INFINITY);
    memset(weight, 0, (size_t)C * sizeof *weight);
    for (int i = 0; i < count; i++) weight[list[i].id] = (real)list[i].value;
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
    int width = at_most(C - first, BLOCK);
    for (int i = 0; i < width; i++)
        before[i + 1] = before[i] + (double)sampling->weight[first + i];
    return first + draw_interval(before, width, &rng);
}
