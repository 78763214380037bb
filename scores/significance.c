/* significance.c -- bootstrap and approximate randomization; see significance.h.
 *
 * With d the difference of two scores, and d_t that of trial t:
 *
 *   bootstrap        p = (1 + Σ_t [ |d_t| - mean |d_t| > |d| ]) / (trials + 1)
 *   randomization    p = (1 + Σ_t [ |d_t| > |d| ]) / (trials + 1)
 *
 * The generator is that of NumPy's default_rng(12345): PCG64 (O'Neill 2014, XSL-RR 128/64), seeded by
 * NumPy's SeedSequence; numbers below a bound by Lemire's method (2019, arXiv 1805.10941). */
#include "scores/significance.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

const char *const significance_names[] = {"auto", "none", "bootstrap", "randomization", NULL};

/* ---- the generator ---- */

enum { SEED = 12345, POOL = 4 };
typedef unsigned __int128 Uint128;

typedef struct Pcg64 {
    Uint128 state, increment;
    uint32_t second;  // the upper half of the last number,
    bool has_second;  // not used yet
    uint32_t bits;
    int bits_left;
} Pcg64;

static uint64_t next64(Pcg64 *g)
{
    const Uint128 multiplier = (Uint128)0x2360ED051FC65DA4u << 64 | 0x4385DF649FCCF645u;
    g->state = g->state * multiplier + g->increment;
    uint64_t mixed = (uint64_t)(g->state >> 64) ^ (uint64_t)g->state;
    unsigned turn = (unsigned)(g->state >> 122);
    return mixed >> turn | mixed << (-turn & 63);
}

static uint32_t next32(Pcg64 *g)
{
    g->has_second = !g->has_second;
    if (!g->has_second) return g->second;
    uint64_t both = next64(g);
    g->second = (uint32_t)(both >> 32);
    return (uint32_t)both;
}

static bool next_bit(Pcg64 *g)
{
    g->bits = g->bits_left ? g->bits >> 1 : next32(g);
    g->bits_left = g->bits_left ? g->bits_left - 1 : 31;
    return g->bits & 1;
}

static int below(Pcg64 *g, uint32_t bound)
{
    if (bound == 1) return 0;
    uint64_t product;
    uint32_t least = -bound % bound;
    do product = (uint64_t)next32(g) * bound;
    while ((uint32_t)product < least);
    return (int)(product >> 32);
}

static uint32_t hash(uint32_t value, uint32_t *constant, uint32_t multiplier)
{
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> 16;
}

static Pcg64 generator(void)
{
    uint32_t pool[POOL], constant = 0x43B0D7E5u, word[2 * POOL];
    for (int i = 0; i < POOL; i++) pool[i] = hash(i ? 0 : SEED, &constant, 0x931E8875u);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++) {
            if (to == from) continue;
            uint32_t other = hash(pool[from], &constant, 0x931E8875u);
            uint32_t mixed = 0xCA01F9DDu * pool[to] - 0x4973F715u * other;
            pool[to] = mixed ^ mixed >> 16;
        }
    constant = 0x8B51F9DDu;
    for (int i = 0; i < 2 * POOL; i++) word[i] = hash(pool[i % POOL], &constant, 0x58F38DEDu);
    uint64_t half[POOL];
    for (int i = 0; i < POOL; i++) half[i] = (uint64_t)word[2 * i + 1] << 32 | word[2 * i];
    Pcg64 g = {.increment = ((Uint128)half[2] << 64 | half[3]) << 1 | 1};
    next64(&g);
    g.state += (Uint128)half[0] << 64 | half[1];
    next64(&g);
    return g;
}

/* ---- trials ---- */

/* score (=) of both systems in a trial; without a test, those of all segments. */
static void trial(double score[2][SCORES], Significance test, Pcg64 *g,
                  const Statistics *const system[2], int segments)
{
    Statistics none = statistics_none(&system[0]->bleu), sum[2] = {none, none};
    for (int i = 0; i < segments; i++) {
        int at = test == SIGNIFICANCE_BOOTSTRAP ? below(g, (uint32_t)segments) : i;
        bool swapped = test == SIGNIFICANCE_RANDOMIZATION && next_bit(g);
        for (int k = 0; k < 2 && system[k]; k++)
            statistics_join(&sum[k ^ swapped], &system[k][at]);
    }
    for (int k = 0; k < 2; k++) statistics_scores(score[k], &sum[k]);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *value, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += value[i];
    return sum / count;
}

bool significance_estimate(Estimate *estimate, Significance test, const Statistics *system,
                           const Statistics *other, int segments, int trials, Error *error)
{
    bool bootstrap = test == SIGNIFICANCE_BOOTSTRAP;
    size_t count = (size_t)trials;
    double *value = malloc(2 * SCORES * count * sizeof *value);  // [SCORES, trials]
    if (!value) return error_memory(error, "for %d trials", trials);
    double *difference = value + SCORES * count, score[2][SCORES];
    Pcg64 g = generator();
    const Statistics *const both[2] = {system, other};
    for (int t = 0; t < trials; t++) {
        trial(score, test, &g, both, segments);
        for (int s = 0; s < SCORES; s++) {
            value[(size_t)(s * trials + t)] = score[0][s];
            difference[(size_t)(s * trials + t)] = fabs(score[0][s] - score[1][s]);
        }
    }
    trial(score, SIGNIFICANCE_NONE, &g, both, segments);
    for (int s = 0; s < SCORES; s++) {
        double *v = value + (size_t)s * count, *d = difference + (size_t)s * count;
        double centre = bootstrap ? mean_of(d, trials) : 0;
        int larger = 1, tail = trials / 40;
        for (int t = 0; t < trials; t++)
            larger += d[t] - centre > fabs(score[0][s] - score[1][s]);
        qsort(v, count, sizeof *v, ascending);
        estimate[s] = (Estimate){NAN, NAN, NAN};
        if (other) estimate[s].p = (double)larger / (trials + 1);
        if (!bootstrap) continue;
        estimate[s].mean = mean_of(v, trials);
        estimate[s].interval = (v[trials - tail - 1] - v[tail]) / 2;
    }
    free(value);
    return true;
}
