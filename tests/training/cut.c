/* cut.c -- every sentence is in one micro-batch, and micro-batches are even. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "base/rng.h"
#include "training/cut.h"

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

/* Returns the tokens of the last sentence of micro-batch k, the shortest; *tokens (=) of all. */
static int weigh(int *tokens, const Cut *cut, int k, const Text *source, const Text *target,
                 bool *seen)
{
    int last = 0;
    *tokens = 0;
    assert_true(cut_sentences(cut, k) > 0);
    for (int i = 0; i < cut_sentences(cut, k); i++) {
        int s = cut_sentence(cut, k)[i], length = tokens_of(source, target, s);
        assert_false(seen[s]);
        seen[s] = true;
        assert_true(i == 0 || length <= last);
        last = length;
        *tokens += length;
    }
    assert_int_equal(*tokens, cut->part[k].tokens);
    return last;
}

static void check(const Cut *cut, const Text *source, const Text *target)
{
    bool seen[MOST] = {0};
    int last[MOST], tokens[MOST], least = 2 * MOST * LONGEST, S = source->packed.sentences;
    for (int k = 0; k < cut->count; k++) {
        last[k] = weigh(&tokens[k], cut, k, source, target, seen);
        if (tokens[k] < least) least = tokens[k];
    }
    for (int k = 0; k < cut->count; k++) assert_true(tokens[k] - last[k] <= least);
    for (int s = 0; s < S; s++) assert_true(seen[s]);
}

/* One Cut for texts of all sizes: what it held before does not matter. */
static void test_even(void **state)
{
    (void)state;
    Cut cut = {0};
    Error error;
    for (uint32_t trial = 0; trial < 200; trial++) {
        Rng rng = rng_stream(1, RNG_TEST, trial);
        Text source = {0}, target = {0};
        int S = 1 + (int)rng_below(&rng, MOST), wanted = 1 + (int)rng_below(&rng, 600);
        int together = 1 + (int)rng_below(&rng, 8);
        make(&source, S, &rng);
        make(&target, S, &rng);
        assert_true(cut_make(&cut, &source.packed, &target.packed, wanted, together, &error));
        int rows = source.packed.rows + target.packed.rows;
        int least = (rows + wanted - 1) / wanted;
        assert_true(cut.count <= S && (cut.count >= least || cut.count == S));
        assert_true(cut.count < least + together);
        assert_true(cut.count <= together || cut.count % together == 0 || cut.count == S);
        check(&cut, &source, &target);
    }
    cut_free(&cut);
}

/* Of 2, 8, 9, 2 and 5 tokens: 9 and 8 go apart, 5 joins 8, and both twos join 9. */
static void test_by_hand(void **state)
{
    (void)state;
    const int ends[] = {0, 1, 5, 9, 10, 13}, starts[] = {0, 1, 5, 10, 11, 13};
    const Packed source = {5, 13, NULL, ends}, target = {5, 13, NULL, starts};
    const CutPart part[] = {{0, 3, 13}, {3, 5, 13}};
    const int sentence[] = {2, 0, 3, 1, 4};
    Cut cut = {0};
    Error error;
    assert_true(cut_make(&cut, &source, &target, 13, 1, &error));
    assert_int_equal(cut.count, 2);
    assert_memory_equal(cut.part, part, sizeof part);
    assert_memory_equal(cut.sentence, sentence, sizeof sentence);
    cut_free(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
