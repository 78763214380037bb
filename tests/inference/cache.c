/* Every row of the key-value cache against the whole-sentence pass, with sentences that end
 * early and with hypotheses that branch and end. */
#include "inference/cache.h"
#include "tests/fixtures/random-model.h"

/* The largest difference, divided by the largest expected number. */
static double difference(const real *x, const real *expected, int n)
{
    double most = 0, largest = 0;
    for (int k = 0; k < n; k++) {
        double d = fabs(x[k] - expected[k]);
        if (!(d <= most)) most = isnan(d) ? INFINITY : d;
        if (fabs(expected[k]) > largest) largest = fabs(expected[k]);
    }
    return most / largest;
}

/* The rows choose parents at random, so that some hypotheses branch and some end; the sentences
 * end at different steps. Every node must equal the whole-sentence pass over the tokens of its
 * path, also when the cache is used a second time. */
static void check_forest(const Variant *variant)
{
    enum { V = 30, S = 24, MOST = 3, STEPS = 26, NODES = S * MOST * STEPS, LONGEST = 64 };
    Transformer model = random_variant(variant, V, LONGEST, 4);
    Packed source = random_sentences(S, LONGEST, config_source_vocab(&model.config), 5);
    assert_true(source.rows > 320);  // more than one slice of the encoder
    int D = model.config.d_model, first[S], count[S], sentence_of[NODES];
    Cache cache;
    Arena arena = {0}, forced;
    for (int pass = 0; pass < 2; pass++) {
        cache_layout(&cache, &arena, &model, &source, S * MOST, STEPS, NODES);
        if (pass == 0) assert_true(arena_reserve(&arena, NULL));
        if (pass == 0) memset(arena.base, 0x7f, arena.size);  // it must not rely on zeros
    }
    real *seen = malloc(sizeof *seen * NODES * (size_t)D);
    Rng rng = rng_stream(6, RNG_TEST, 0);
    double worst = 0;
    for (int again = 0; again < 2; again++) {
        cache_encode(&cache, &model);
        for (int t = 0; t < STEPS; t++) {
            Prefix prefix[S * MOST];
            int rows = 0;
            for (int s = 0; s < S && t < STEPS - s; s++) {
                int parents = t ? count[s] : 1, begin = cache.nodes + rows;
                count[s] = t ? 1 + (int)rng_below(&rng, MOST) : 1;
                for (int i = 0; i < count[s]; i++) {
                    int parent =
                        t ? first[s] + (int)rng_below(&rng, (uint32_t)parents) : NO_NODE;
                    int token = t ? 1 + (int)rng_below(&rng, V - 2) : V - 1;
                    sentence_of[cache.nodes + rows] = s;
                    prefix[rows++] = (Prefix){s, parent, token, 0, 0};
                }
                first[s] = begin;
            }
            int before = cache.nodes;
            const real *X = cache_step(&cache, &model, prefix, rows);
            memcpy(seen + before * D, X, sizeof *X * (size_t)(rows * D));
        }
        for (int node = again; node < cache.nodes; node += 2) {
            int id[STEPS + 1], length = cache_tokens(id, &cache, node), s = sentence_of[node];
            id[length] = ID_END;
            Packed one = packed_slice((int[2]){0}, &source, s, s + 1);
            Packed path = {1, length + 1, id, (int[]){0, length + 1}};
            const real *expected = forced_pass(&forced, &model, &one, &path);
            worst = fmax(worst, difference(seen + node * D, expected + length * D, D));
            arena_free(&forced);
        }
    }
    assert_true(cache.nodes > S * STEPS);
    assert_true(worst < 1e-5);
    free(seen);
    arena_free(&arena);
    free_sentences(source);
    transformer_free(&model);
}

TEST(forest)
{
    for (int i = 0; i < VARIANTS; i++) check_forest(&variants[i]);
}

TEST_MAIN("cache", NULL, NULL)
