/* microbatch.c -- every sentence is in one micro-batch, and micro-batches are even. */
#include "tests/fixtures/test.h"

#include <limits.h>

#include "base/rng.h"
#include "training/microbatch.h"

enum { MOST = 300, LONGEST = 40 };

/* Sentences of which only the lengths matter. */
typedef struct Text {
    Packed packed;
    int start[MOST + 1];
} Text;

static void make(Text *text, int sentences, Rng *rng)
{
    for (int s = 0; s < sentences; s++)
        text->start[s + 1] = text->start[s] + 1 + (int)rng_below(rng, LONGEST);
    text->packed = (Packed){sentences, text->start[sentences], NULL, text->start};
}

static int tokens_of(const Text *source, const Text *target, int s)
{
    return packed_length(&source->packed, s) + packed_length(&target->packed, s);
}

/* Returns the tokens of the last sentence of the micro-batch, its shortest. */
static int check_part(const MicroBatchPart *part, const Text *source, const Text *target,
                      bool *seen)
{
    int last = INT_MAX, tokens = 0;
    assert_true(part->count > 0);
    for (int i = 0; i < part->count; i++) {
        int s = part->sentence[i], length = tokens_of(source, target, s);
        assert_false(seen[s]);
        seen[s] = true;
        assert_true(length <= last);
        last = length;
        tokens += length;
    }
    assert_int_equal(tokens, part->tokens);
    return last;
}

static void check(const MicroBatchPlan *plan, const Text *source, const Text *target)
{
    bool seen[MOST] = {0};
    int least = INT_MAX, sentences = 0, last[MOST];
    for (int k = 0; k < plan->count; k++) {
        const MicroBatchPart *part = &plan->part[k];
        last[k] = check_part(part, source, target, seen);
        sentences += part->count;
        if (part->tokens < least) least = part->tokens;
    }
    for (int k = 0; k < plan->count; k++) assert_true(plan->part[k].tokens - last[k] <= least);
    assert_int_equal(sentences, source->packed.sentences);
}

/* One plan for texts of all sizes: what it held before does not matter. */
TEST(test_even)
{
    MicroBatchPlan plan = {0};
    Error error;
    for (uint32_t trial = 0; trial < 200; trial++) {
        Rng rng = rng_stream(1, RNG_TEST, trial);
        Text source = {0}, target = {0};
        int S = 1 + (int)rng_below(&rng, MOST), wanted = 1 + (int)rng_below(&rng, 600);
        int multiple = 1 + (int)rng_below(&rng, 8);
        make(&source, S, &rng);
        make(&target, S, &rng);
        assert_true(
            microbatch_plan(&plan, &source.packed, &target.packed, wanted, multiple, &error));
        int rows = source.packed.rows + target.packed.rows, count = plan.count;
        int least = (rows + wanted - 1) / wanted;
        assert_true(count <= S && (count >= least || count == S));
        assert_true(count < least + multiple);
        assert_true(count <= multiple || count % multiple == 0 || count == S);
        check(&plan, &source, &target);
    }
    microbatch_plan_free(&plan);
}

/* Of 2, 8, 9, 2 and 5 tokens: 9 and 8 go to different micro-batches, 5 joins 8, and both twos
 * join 9. */
TEST(test_by_hand)
{
    const int ends[] = {0, 1, 5, 9, 10, 13}, starts[] = {0, 1, 5, 10, 11, 13};
    const Packed source = {5, 13, NULL, ends}, target = {5, 13, NULL, starts};
    const int first[] = {2, 0, 3}, second[] = {1, 4};
    MicroBatchPlan plan = {0};
    Error error;
    assert_true(microbatch_plan(&plan, &source, &target, 13, 1, &error));
    assert_int_equal(plan.count, 2);
    assert_true(plan.part[0].count == 3 && plan.part[0].tokens == 13);
    assert_true(plan.part[1].count == 2 && plan.part[1].tokens == 13);
    assert_memory_equal(plan.part[0].sentence, first, sizeof first);
    assert_memory_equal(plan.part[1].sentence, second, sizeof second);
    microbatch_plan_free(&plan);
}

TEST_MAIN("microbatch", NULL, NULL)
