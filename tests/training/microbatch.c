/* microbatch.c -- every sentence is in one micro-batch, and micro-batches are even. */
#include "tests/fixtures/test.h"

#include <limits.h>

#include "base/rng.h"
#include "training/microbatch.h"

enum { MOST = 300, LONGEST = 40 };

static PairIds pair[MOST];  // only the lengths matter

static int tokens_of(int s)
{
    return pair[s].length[0] + pair[s].length[1];
}

/* Returns the tokens of the last sentence of the micro-batch, its shortest. */
static int check_part(const MicroBatchPart *part, bool *seen)
{
    int last = INT_MAX, tokens = 0;
    assert_true(part->count > 0);
    for (int i = 0; i < part->count; i++) {
        int s = part->sentence[i], length = tokens_of(s);
        assert_false(seen[s]);
        seen[s] = true;
        assert_true(length <= last);
        last = length;
        tokens += length;
    }
    assert_int_equal(tokens, part->tokens);
    return last;
}

static void check(const MicroBatchPlan *plan, int pairs)
{
    bool seen[MOST] = {0};
    int least = INT_MAX, sentences = 0, last[MOST];
    for (int k = 0; k < plan->count; k++) {
        const MicroBatchPart *part = &plan->part[k];
        last[k] = check_part(part, seen);
        sentences += part->count;
        if (part->tokens < least) least = part->tokens;
    }
    for (int k = 0; k < plan->count; k++) assert_true(plan->part[k].tokens - last[k] <= least);
    assert_int_equal(sentences, pairs);
}

/* A teacher has no say in a target that is changed, which is then the distribution itself. */
TEST(test_teachers_of_changed_pairs)
{
    enum { EACH = 2 };
    static const int id[] = {5, 7, 0};
    static const size_t start[] = {0, 0, 0, 1};  // pair 3 begins at target token 1
    SoftTarget said[4 * EACH], soft[6 * EACH];
    for (int i = 0; i < 4 * EACH; i++) said[i] = (SoftTarget){10 + i, (real)0.25};
    const PairIds two[] = {{{id, id}, {3, 3}, PAIR_CHANGED}, {{id, id}, {3, 3}, 3}};
    int sentence[] = {0, 1}, starts[] = {0, 3, 6};
    const MicroBatchPart part = {sentence, 2, 12};
    MicroBatch batch = {.pair = two, .part = &part, .soft = soft};
    batch.target = (Packed){2, 6, id, starts};
    microbatch_supervise(&batch, &(Supervision){.soft = said, .each = EACH, .start = start}, 0,
                         0.5);
    for (int i = 0; i < 6 * EACH; i++) {
        bool changed = i < 3 * EACH;
        assert_int_equal(soft[i].id, changed ? id[i / EACH] : 10 + EACH + i - 3 * EACH);
        assert_true(soft[i].probability == (changed ? (real)0.5 : (real)0.25));
    }
}

/* One plan for texts of all sizes: what it held before does not matter. */
TEST(test_even)
{
    MicroBatchPlan plan = {0};
    Error error;
    for (uint32_t trial = 0; trial < 200; trial++) {
        Rng rng = rng_stream(1, RNG_TEST, trial);
        int S = 1 + (int)rng_below(&rng, MOST), wanted = 1 + (int)rng_below(&rng, 600);
        int multiple = 1 + (int)rng_below(&rng, 8);
        int rows = 0, count;
        for (int s = 0; s < S; s++) {
            for (int side = 0; side < 2; side++)
                pair[s].length[side] = 1 + (int)rng_below(&rng, LONGEST);
            rows += tokens_of(s);
        }
        assert_true(microbatch_plan(&plan, pair, S, wanted, multiple, &error));
        count = plan.count;
        int least = (rows + wanted - 1) / wanted;
        assert_true(count <= S && (count >= least || count == S));
        assert_true(count < least + multiple);
        assert_true(count <= multiple || count % multiple == 0 || count == S);
        check(&plan, S);
    }
    microbatch_plan_free(&plan);
}

/* Of 2, 8, 9, 2 and 5 tokens: 9 and 8 go to different micro-batches, 5 joins 8, and both twos
 * join 9. */
TEST(test_by_hand)
{
    const PairIds five[] = {{.length = {1, 1}},
                            {.length = {4, 4}},
                            {.length = {4, 5}},
                            {.length = {1, 1}},
                            {.length = {3, 2}}};
    const int first[] = {2, 0, 3}, second[] = {1, 4};
    MicroBatchPlan plan = {0};
    Error error;
    assert_true(microbatch_plan(&plan, five, 5, 13, 1, &error));
    assert_int_equal(plan.count, 2);
    assert_true(plan.part[0].count == 3 && plan.part[0].tokens == 13);
    assert_true(plan.part[1].count == 2 && plan.part[1].tokens == 13);
    assert_memory_equal(plan.part[0].sentence, first, sizeof first);
    assert_memory_equal(plan.part[1].sentence, second, sizeof second);
    microbatch_plan_free(&plan);
}

TEST_MAIN("microbatch", NULL, NULL)
