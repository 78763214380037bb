/* significance.c -- bootstrap and approximate randomization; see significance.h.
 *
 * With d the difference of two scores, and d_t that of trial t:
 *
 *   bootstrap        p = (1 + Σ_t [ |d_t| - mean |d_t| > |d| ]) / (trials + 1)
 *   randomization    p = (1 + Σ_t [ |d_t| > |d| ]) / (trials + 1)
 *
 * The generator is that of NumPy's default_rng(12345): PCG64 (O'Neill 2014, XSL-RR 128/64); numbers
 * below a bound by Lemire's method (2019, arXiv 1805.10941). */
#include "scores/significance.h"

const char *const significance_names[] = {"auto", "none", "bootstrap", "randomization", NULL};

/* ---- the generator ---- */

typedef unsigned __int128 Uint128;

typedef struct Pcg64 {
    Uint128 state, increment;
    uint32_t second;  // the upper half of the last number,
    bool has_second;  // not used yet
    uint32_t bits;
    int bits_left;
} Pcg64;

/* numpy.random.default_rng(12345).bit_generator.state */
static const Pcg64 seeded = {
    .state = (Uint128)0x1905E0335AAE9634u << 64 | 0x9199B0D09775ADD5u,
    .increment = (Uint128)0xC9C7353E6E2B1F28u << 64 | 0x7D761F2D4027FAE7u,
};

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
    Pcg64 g = seeded;
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
        double mean = mean_of(d, trials), centre = bootstrap ? mean : 0;
        int larger = 1, tail = trials / 40;
        for (int t = 0; t < trials; t++)
            larger += d[t] - centre > fabs(score[0][s] - score[1][s]);
        qsort(v, count, sizeof *v, ascending);
        estimate[s] = (Estimate){NAN, NAN, NAN};
        if (other && mean > 0) estimate[s].p = (double)larger / (trials + 1);
        if (!bootstrap) continue;
        estimate[s].mean = mean_of(v, trials);
        estimate[s].interval = (v[trials - tail - 1] - v[tail]) / 2;
    }
    free(value);
    return true;
}
