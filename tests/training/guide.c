/* guide.c -- the links that guide a head: what the corpus tells, and where they are put. */
#include "training/guide.h"

#include "base/rng.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/variants.h"

enum { PAIRS = 300, LENGTH = 6, WORDS = 40, ROUNDS = 5 };

/* Every sentence has LENGTH different words, in any order; word w is `shift` - w in the other
 * language. */
typedef struct Language {
    int source_id[PAIRS * (LENGTH + 1)], target_id[PAIRS * (LENGTH + 1)], start[PAIRS + 1];
    int link[PAIRS][LENGTH];  // of each target token, the source token
    Packed source, target;
} Language;

static void make(Language *l, int first, int shift)
{
    Rng rng = rng_stream(3, RNG_TEST, 0);
    for (int p = 0; p < PAIRS; p++) {
        int begin = l->start[p] = p * (LENGTH + 1), *s = l->source_id + begin;
        for (int j = 0; j < LENGTH;) {
            bool again = false;
            s[j] = first + (int)rng_below(&rng, WORDS);
            for (int k = 0; k < j; k++) again |= s[k] == s[j];
            j += !again;
        }
        for (int i = 0; i < LENGTH; i++) {
            int turned = (i + (int)(p % 3)) % LENGTH;
            l->link[p][i] = turned;
            l->target_id[begin + i] = shift - s[turned];
        }
        s[LENGTH] = l->target_id[begin + LENGTH] = ID_END;
    }
    l->start[PAIRS] = PAIRS * (LENGTH + 1);
    l->source = (Packed){PAIRS, l->start[PAIRS], l->source_id, l->start};
    l->target = (Packed){PAIRS, l->start[PAIRS], l->target_id, l->start};
}

/* Estimates the links of the language, and asserts that each target token's largest is the right
 * one, with more than `least` of the weight, and that the others are as they should. */
static void check_links(const Language *l, const ModelConfig *config, size_t block,
                        double least)
{
    const real w = 2;
    Guide guide;
    Attention a;
    Arena arena = {0};
    assert_true(guide_create(&guide, config_source_vocab(config), config->vocab,
                             config->max_length, GUIDE_CELLS, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int p = 0; p < PAIRS; p++) {
            int first = l->start[p], length = l->start[p + 1] - first;
            guide_count(
                &guide,
                &(PairIds){{l->source_id + first, l->target_id + first}, {length, length}, 0});
        }
        const real *counts = guide.count;
        assert_true(guide_end_round(&guide, round == ROUNDS - 1, NULL));
        assert_ptr_equal(guide.next, round == ROUNDS - 1 ? NULL : round ? counts : guide.next);
    }
    for (int pass = 0; pass < 2; pass++) {
        attention_layout(&a, &arena, config, &l->target, &l->source, false, NULL, 0, true,
                         block);
        assert_true(pass || arena_reserve(&arena, NULL));
    }
    size_t count = a.numbers / (size_t)a.config->heads;
    real *P = malloc((count + 1) * sizeof *P);
    memset(P, 0xff, (count + 1) * sizeof *P);  // NaN
    a.guide = P;
    guide_fill(&a, &guide, w);
    assert_true(isnan(P[count]));
    for (int p = 0; count && p < PAIRS; p++)
        for (int i = 0; i <= LENGTH; i++) {
            const real *row =
                P + a.map[p] / (size_t)a.config->heads + i * head_width(LENGTH + 1);
            double sum = 0;
            for (int j = 0; j < head_width(LENGTH + 1); j++) {
                assert_true(row[j] >= 0 && (row[j] == 0 || (i < LENGTH && j < LENGTH)));
                sum += (double)row[j];
            }
            assert_true(sum <= (double)w * 1.00001 && (sum == 0) == (i == LENGTH));
            if (i < LENGTH) assert_true((double)row[l->link[p][i]] > (double)w * least);
        }
    free(P);
    arena_free(&arena);
    guide_free(&guide);
}

static Language language;

TEST(test_links_of_a_small_language)
{
    const ModelConfig config = {NETWORK(2 * WORDS + 3, 8, 2, 8, 1, 1, 8)};
    make(&language, 2, 2 * WORDS + 3);
    check_links(&language, &config, SIZE_MAX, 0.9);
    check_links(&language, &config, 1, 0.9);  // no map is kept: there is nothing to fill
}

/* 60,000 · 60,000 pairs share 2²⁴ - 3 places. */
TEST(test_links_of_a_large_vocabulary)
{
    const ModelConfig config = {NETWORK(60000, 8, 2, 8, 1, 1, 8)};
    make(&language, 59000, 59000 + WORDS);
    check_links(&language, &config, SIZE_MAX, 0.9);
}

TEST_MAIN("guide", NULL, NULL)
