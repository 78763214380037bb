/* Samples against the distribution they are drawn from, and the few that count against a
 * sort. */
#include "inference/sampling.h"
#include "tests/fixtures/test.h"

enum { MOST = 1000 };

static Sampling sampling;
static Arena arena;
static double q[MOST];  // the expected probabilities

FIXTURE(setup)
{
    sampling_layout(&sampling, &arena, MOST);
    if (!arena_reserve(&arena, NULL)) return -1;
    sampling_layout(&sampling, &arena, MOST);
    return 0;
}

FIXTURE(teardown)
{
    arena_free(&arena);
    return 0;
}

/* Scores with ties and with tokens of probability 0. */
static void random_scores(real *z, int C, uint64_t seed)
{
    Rng rng = rng_stream(seed, RNG_TEST, 0);
    for (int c = 0; c < C; c++) z[c] = (real)(round(8 * rng_normal(&rng)) / 4);
    for (int c = 0; c < C; c += 7)
        if (c + 1 < C) z[c] = -INFINITY;
}

static int by_probability(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    if (q[x] != q[y]) return q[x] < q[y] ? 1 : -1;
    return x - y;
}

/* q [C] (=) the expected distribution, with a full sort. Returns the number of possible
 * tokens. */
static int distribution(const real *z, int C, const SearchConfig *config)
{
    int order[MOST], most = C;
    double total = 0, sum = 0;
    for (int c = 0; c < C; c++) q[c] = exp((double)z[c] / config->temperature);
    for (int c = 0; c < C; c++) order[c] = c;
    qsort(order, (size_t)C, sizeof *order, by_probability);
    if (config->top_k && config->top_k < C) most = config->top_k;
    for (int i = 0; i < most; i++) total += q[order[i]];
    int kept = 0;
    while (kept < most && (kept == 0 || sum < config->top_p * total * (1 - 1e-6)))
        sum += q[order[kept++]];
    for (int i = kept; i < C; i++) q[order[i]] = 0;
    int possible = 0;
    for (int c = 0; c < C; c++) {
        q[c] /= sum;
        possible += q[c] > 0;
    }
    return possible;
}

/* Draws, and compares the counts of the tokens with their probabilities: the χ² of n degrees of
 * freedom must stay below 2 n + 30, and tokens of probability 0 must not be drawn. */
static void check(int C, SearchConfig config, uint64_t seed)
{
    enum { DRAWS = 20000 };
    static int count[MOST];
    real z[MOST];
    random_scores(z, C, seed);
    int possible = distribution(z, C, &config);
    for (int c = 0; c < C; c++) count[c] = 0;
    for (int i = 0; i < DRAWS; i++) {
        Rng rng = sampling_rng(seed, 1 + (uint64_t)(i / 50), i % 5, 1 + i / 5 % 10);
        int c = sampling_draw(&sampling, z, C, rng, &config);
        assert_in_range(c, 0, C - 1);
        if (q[c] == 0) fail_msg("drew token %d of %d, whose probability is 0", c, C);
        count[c]++;
    }
    double chi2 = 0, rest = 0, rest_count = 0;
    int degrees = 0;
    for (int c = 0; c < C; c++) {
        double expected = q[c] * DRAWS;
        if (expected < 5) {
            rest += expected, rest_count += count[c];
            continue;
        }
        chi2 += (count[c] - expected) * (count[c] - expected) / expected;
        degrees++;
    }
    if (rest > 5) chi2 += (rest_count - rest) * (rest_count - rest) / rest, degrees++;
    if (possible > 1 && chi2 > 2 * degrees + 30)
        fail_msg("C %d, T %g, k %d, p %g: chi2 %g of %d", C, config.temperature, config.top_k,
                 config.top_p, chi2, degrees);
}

TEST(frequencies)
{
    static const int SIZES[] = {1, 2, 5, 63, 64, 65, 128, 130, 1000};
    static const double TEMPERATURES[] = {1, 0.5, 3};
    static const int KS[] = {0, 1, 3, 20, 100};
    static const double PS[] = {1, 0.9, 0.5, 0.001};
    for (int i = 0; i < 9 * 3 * 5 * 4; i++) {
        int s = i / 60, t = i / 20 % 3, k = i / 4 % 5, p = i % 4;
        SearchConfig config = {.temperature = TEMPERATURES[t], .top_k = KS[k], .top_p = PS[p]};
        if ((s + t + k + p) % 3 == 0) check(SIZES[s], config, (uint64_t)i);
    }
}

/* One possible token, and equally probable ones. */
TEST(edges)
{
    real z[MOST];
    SearchConfig config = {.temperature = 1, .top_p = 1};
    for (int c = 0; c < MOST; c++) z[c] = -INFINITY;
    z[777] = -300;
    for (int i = 0; i < 100; i++)
        assert_int_equal(sampling_draw(&sampling, z, MOST, sampling_rng(1, 1, 0, i), &config),
                         777);
    for (int c = 0; c < MOST; c++) z[c] = 5;
    config.top_k = 3;
    int seen[3] = {0};
    for (int i = 0; i < 3000; i++) {
        int c = sampling_draw(&sampling, z, MOST, sampling_rng(2, 1, 0, i), &config);
        assert_in_range(c, 0, 2);  // of equals, the lowest ids
        seen[c]++;
    }
    for (int c = 0; c < 3; c++) assert_in_range(seen[c], 850, 1150);
    config.top_k = 0, config.top_p = 0.5;
    for (int i = 0; i < 1000; i++)
        assert_in_range(sampling_draw(&sampling, z, MOST, sampling_rng(3, 1, 0, i), &config), 0,
                        MOST / 2 - 1);
}

/* Each seed, line, sample and step has its own random numbers. */
TEST(streams)
{
    enum { N = 5 };
    double first[2 * N * N * N];
    int count = 0;
    for (int seed = 1; seed <= 2; seed++)
        for (int line = 1; line <= N; line++)
            for (int sample = 0; sample < N; sample++)
                for (int step = 1; step <= N; step++) {
                    Rng rng = sampling_rng((uint64_t)seed, (uint64_t)line, sample, step);
                    first[count++] = rng_uniform(&rng);
                }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) assert_true(first[i] != first[j]);
    Rng a = sampling_rng(1, 2, 63, 8192), b = sampling_rng(1, 2, 63, 8192);
    assert_int_equal(rng_word(&a), rng_word(&b));
}

TEST_MAIN("sampling", setup, teardown)
