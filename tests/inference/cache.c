/* Every row of the key-value cache against the whole-sentence pass, with sentences that end
 * early and with hypotheses that branch and end. */
#include "inference/cache.h"
#include "tests/fixtures/random-model.h"

static Arena cache_create(Cache *cache, const Transformer *model, const Packed *source,
                          int rows, int steps, int capacity)
{
    Arena arena = {0};
    cache_layout(cache, &arena, model, source, rows, steps, capacity);
    assert_true(arena_reserve(&arena, NULL));
    memset(arena.base, 0x7f, arena.size);  // the cache must not rely on zeros
    cache_layout(cache, &arena, model, source, rows, steps, capacity);
    return arena;
}

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

static void check_sentences(const Variant *variant)
{
    enum { V = 30, S = 12 };
    Transformer model = random_variant(variant, V, 64, 1);
    int V_source = config_source_vocab(&model.config);
    Packed source = random_sentences(S, 40, V_source, 2);
    Packed target = random_sentences(S, 50, V, 3);
    Arena forced, arena;
    const real *expected = forced_pass(&forced, &model, &source, &target);
    Cache cache;
    int D = model.config.d_model, longest = 0;
    for (int s = 0; s < S; s++)
        if (packed_length(&target, s) > longest) longest = packed_length(&target, s);
    arena = cache_create(&cache, &model, &source, S, longest, target.rows);
    for (int again = 0; again < 2; again++) {
        cache_encode(&cache, &model);
        int node[S];
        double worst = 0;
        for (int t = 0; t < longest; t++) {
            Prefix prefix[S];
            int count = 0;
            for (int s = 0; s < S; s++)
                if (t < packed_length(&target, s))
                    prefix[count++] =
                        (Prefix){s, t ? node[s] : NO_NODE,
                                 t ? target.id[target.start[s] + t - 1] : V - 1, 0, 0};
            const real *X = cache_step(&cache, &model, prefix, count);
            for (int i = 0; i < count; i++) {
                int s = prefix[i].sentence;
                node[s] = cache.nodes - count + i;
                worst =
                    fmax(worst, difference(X + i * D, expected + (target.start[s] + t) * D, D));
            }
        }
        assert_true(worst < 1e-5);
        int read[64], last = S - 1, m = target.start[S] - target.start[last];
        assert_int_equal(cache_tokens(read, &cache, node[last]), m - 1);
        assert_memory_equal(read, target.id + target.start[last],
                            (size_t)(m - 1) * sizeof(int));
    }
    arena_free(&arena);
    arena_free(&forced);
    free_sentences(source);
    free_sentences(target);
    transformer_free(&model);
}

TEST(forced_sentences)
{
    for (int i = 0; i < VARIANTS; i++) check_sentences(&variants[i]);
}

/* The rows choose parents at random, so that some hypotheses branch and some end. Every node
 * must equal the whole-sentence pass over the tokens of its path. */
static void check_forest(const Variant *variant)
{
    enum { V = 30, S = 3, MOST = 4, STEPS = 12, NODES = S * MOST * STEPS };
    Transformer model = random_variant(variant, V, 16, 4);
    Packed source = random_sentences(S, 16, V, 5);
    int D = model.config.d_model, first[S], count[S];
    Cache cache;
    Arena arena = cache_create(&cache, &model, &source, S * MOST, STEPS, NODES), forced;
    real *seen = malloc(sizeof *seen * NODES * (size_t)D);
    int sentence_of[NODES];
    Rng rng = rng_stream(6, RNG_TEST, 0);
    cache_encode(&cache, &model);
    for (int t = 0; t < STEPS; t++) {
        Prefix prefix[S * MOST];
        int rows = 0, next_first[S], next_count[S];
        for (int s = 0; s < S; s++) {
            next_first[s] = cache.nodes + rows;
            next_count[s] = t ? 1 + (int)rng_below(&rng, MOST) : 1;
            for (int i = 0; i < next_count[s]; i++) {
                int parent = t ? first[s] + (int)rng_below(&rng, (uint32_t)count[s]) : NO_NODE;
                int token = t ? 1 + (int)rng_below(&rng, V - 2) : V - 1;
                sentence_of[cache.nodes + rows] = s;
                prefix[rows++] = (Prefix){s, parent, token, 0, 0};
            }
        }
        int before = cache.nodes;
        const real *X = cache_step(&cache, &model, prefix, rows);
        memcpy(seen + before * D, X, sizeof *X * (size_t)(rows * D));
        memcpy(first, next_first, sizeof first);
        memcpy(count, next_count, sizeof count);
    }
    double worst = 0;
    for (int node = 0; node < cache.nodes; node++) {
        int id[STEPS + 1], length = cache_tokens(id, &cache, node), s = sentence_of[node];
        id[length] = ID_END;
        Packed one = packed_slice((int[2]){0}, &source, s, s + 1);
        Packed path = {1, length + 1, id, (int[]){0, length + 1}};
        const real *expected = forced_pass(&forced, &model, &one, &path);
        worst = fmax(worst, difference(seen + node * D, expected + length * D, D));
        arena_free(&forced);
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
