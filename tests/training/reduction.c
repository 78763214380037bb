/* reduction.c -- the sum over accumulators has the same bits on any number of ranks: every A up
 * to 20, every number of accumulators in use, every number of ranks, every owner. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "tests/fixtures/test.h"
#include "training/reduction.h"

enum { MOST = 20 };

static float leaf[MOST];

static void draw_leaves(uint64_t draw)
{
    Rng rng = rng_stream(1, RNG_TEST, draw);
    for (int a = 0; a < MOST; a++) leaf[a] = (float)rng_normal(&rng);
}

/* The definition, in reduction.h. */
static float expected(int used)
{
    float node[MOST];
    memcpy(node, leaf, sizeof node);
    for (int step = 1; step < used; step *= 2)
        for (int a = 0; a + step < used; a += 2 * step) node[a] += node[a + step];
    return node[0];
}

static void add(float *node, const ReductionPair *pairs, int count)
{
    for (int p = 0; p < count; p++) node[pairs[p].left] += node[pairs[p].right];
}

/* The sum that the owner of a number makes: every rank makes its local sums and sends its
 * roots; what is not sent is NaN. The owner's own leaves are not summed before. */
static float summed(Reduction reduction, int used, int owner)
{
    ReductionPair pairs[MOST];
    int place[MOST];
    float at_owner[MOST];
    reduction_places(place, reduction, used);
    for (int a = 0; a < MOST; a++) at_owner[a] = NAN;
    for (int rank = 0; rank < reduction.ranks; rank++) {
        float node[MOST];
        int first = reduction_first(reduction, rank),
            end = reduction_first(reduction, rank + 1);
        for (int a = 0; a < MOST; a++) node[a] = a >= first && a < end ? leaf[a] : NAN;
        if (rank != owner)
            add(node, pairs, reduction_pairs(pairs, reduction, used, rank, false));
        for (int a = first; a < end; a++)
            if (rank == owner || place[a] >= 0) at_owner[a] = node[a];
    }
    add(at_owner, pairs, reduction_pairs(pairs, reduction, used, owner, true));
    return at_owner[0];
}

TEST(test_ranks_change_no_bit)
{
    draw_leaves(0);
    for (int A = 1; A <= MOST; A++)
        for (int used = 1; used <= A; used++)
            for (int R = 1; R <= A; R++)
                for (int owner = 0; owner < R; owner++) {
                    float sum = summed((Reduction){A, R}, used, owner), right = expected(used);
                    assert_memory_equal(&sum, &right, sizeof sum);
                }
}

/* Otherwise the test above could not fail. */
TEST(test_the_order_matters)
{
    int others = 0;
    for (uint64_t draw = 0; draw < 20; draw++) {
        draw_leaves(draw);
        float in_a_row = 0;
        for (int a = 0; a < MOST; a++) in_a_row += leaf[a];
        others += in_a_row != expected(MOST);
    }
    assert_true(others >= 5);
}

TEST(test_every_accumulator_has_one_rank)
{
    for (int A = 1; A <= 70; A++)
        for (int R = 1; R <= A; R++) {
            Reduction reduction = {A, R};
            assert_int_equal(reduction_first(reduction, 0), 0);
            assert_int_equal(reduction_first(reduction, R), A);
            for (int r = 0; r < R; r++) {
                int size = reduction_first(reduction, r + 1) - reduction_first(reduction, r);
                assert_true(size == A / R || size == A / R + 1);
                for (int a = reduction_first(reduction, r);
                     a < reduction_first(reduction, r + 1); a++)
                    assert_int_equal(reduction_rank(reduction, a), r);
            }
        }
    assert_int_equal(reduction_rank((Reduction){4096, 4096}, 4095), 4095);
}

/* Fewer in use never leave a rank more roots; a whole subtree leaves one. */
TEST(test_roots_of_a_rank)
{
    int place[64];
    for (int A = 1; A <= 64; A++)
        for (int R = 1; R <= A; R++) {
            int most = reduction_places(place, (Reduction){A, R}, A);
            if (!(A & (A - 1)) && !(R & (R - 1))) assert_int_equal(most, 1);
            for (int used = 1; used <= A; used++) {
                assert_true(reduction_places(place, (Reduction){A, R}, used) <= most);
                for (int a = used; a < A; a++) assert_int_equal(place[a], -1);
            }
        }
}

TEST_MAIN("reduction", NULL, NULL)
