/* dropout.c -- masks: their rate, and what they depend on. */
#include "model/dropout.h"
#include "tests/fixtures/test.h"

enum { COUNT = 1 << 18 };

static const Dropout base = {.residual = 0.3, .seed = 7, .update = 11};
static uint8_t mask[COUNT], other[COUNT];

/* keep [count] (=) the decisions at a place for the numbers from `first` on of a sentence. */
static void decide(uint8_t *keep, size_t first, size_t count, const Dropout *dropout,
                   double rate, uint32_t place, int sentence)
{
    const DropoutMask decisions = {.rate = rate, .dropout = dropout, .place = place};
    dropout_sentence(keep, first, count, &decisions, sentence);
}

static long ones(const uint8_t *keep, long count, long stride)
{
    long sum = 0;
    for (long i = 0; i < count; i += stride) {
        assert_true(keep[i] <= 1);
        sum += keep[i];
    }
    return sum;
}

/* The share of ones among n is within 5 deviations √(p (1-p) / n) of 1 - p. */
static void assert_rate(long kept, long n, double rate)
{
    double deviation = sqrt(rate * (1 - rate) / (double)n);
    double share = (double)kept / (double)n;
    if (!(fabs(share - (1 - rate)) < 5 * deviation))
        fail_msg("kept %.4f of %ld at rate %g", share, n, rate);
}

TEST(test_rate)
{
    const double rates[] = {0.05, 0.1, 0.3, 0.5, 0.9};
    for (int i = 0; i < 5; i++) {
        decide(mask, 0, COUNT, &base, rates[i], 3, 0);
        assert_rate(ones(mask, COUNT, 1), COUNT, rates[i]);
        for (long lane = 0; lane < 128; lane++)  // every position in a group
            assert_rate(ones(mask + lane, COUNT - lane, 128), (COUNT - lane + 127) / 128,
                        rates[i]);
    }
}

/* Two independent decisions agree with probability p² + (1-p)². */
static void assert_independent(const uint8_t *a, const uint8_t *b, long count, double rate)
{
    long equal = 0;
    for (long i = 0; i < count; i++) equal += a[i] == b[i];
    assert_rate(equal, count, 2 * rate * (1 - rate));
}

TEST(test_independence)
{
    decide(mask, 0, COUNT, &base, 0.3, 3, 0);
    const int distances[] = {1, 2, 16, 32, 64, 128};
    for (int i = 0; i < 6; i++)
        assert_independent(mask, mask + distances[i], COUNT - distances[i], 0.3);

    Dropout updated = base, seeded = base, high = base;
    updated.update++, seeded.seed++, high.seed += (uint64_t)1 << 32;
    const struct {
        const Dropout *dropout;
        uint32_t place;
        int sentence;
    } others[] = {
        {&base, 3, 1}, {&base, 4, 0}, {&updated, 3, 0}, {&seeded, 3, 0}, {&high, 3, 0}};
    for (int i = 0; i < 5; i++) {
        decide(other, 0, COUNT, others[i].dropout, 0.3, others[i].place, others[i].sentence);
        assert_independent(mask, other, COUNT, 0.3);
    }
}

/* The numbers of a mask depend neither on its length nor on where it begins. */
TEST(test_prefix)
{
    decide(mask, 0, 1000, &base, 0.3, 3, 0);
    for (size_t count = 0; count <= 300; count++) {
        memset(other, 9, sizeof other);
        decide(other, 0, count, &base, 0.3, 3, 0);
        assert_memory_equal(mask, other, count);
        assert_int_equal(other[count], 9);  // nothing is written after the end
        decide(other, count, 400, &base, 0.3, 3, 0);
        assert_memory_equal(mask + count, other, 400);
    }
}

/* With R-Drop the first copies have the masks they have without it, the second copies have
 * masks of their own, and neither depends on the cut into micro-batches. */
TEST(test_copies)
{
    enum { WIDTH = 1000, ALL = 3 };
    static uint8_t plain[ALL * WIDTH];
    const int start[] = {0, 1, 2, 3, 4, 5, 6};
    const Packed once = {ALL, ALL, NULL, start}, twice = {2 * ALL, 2 * ALL, NULL, start};
    const Packed last = {2, 2, NULL, start};
    Dropout copies = base;
    copies.copy = ALL, copies.r_drop = 5;
    dropout_rows(&(DropoutMask){plain, 0.3, 1, &base, 3}, &once, WIDTH);
    dropout_rows(&(DropoutMask){mask, 0.3, 1, &copies, 3}, &twice, WIDTH);
    assert_memory_equal(mask, plain, ALL * WIDTH);
    for (int s = 0; s < ALL; s++)
        for (int t = 0; t < ALL; t++)
            assert_independent(mask + s * WIDTH, mask + (ALL + t) * WIDTH, WIDTH, 0.3);
    copies.copy = 1, copies.sentence = (const int[]){2};  // the third sentence alone
    dropout_rows(&(DropoutMask){other, 0.3, 1, &copies, 3}, &last, WIDTH);
    assert_memory_equal(other, mask + 2 * WIDTH, WIDTH);
    assert_memory_equal(other + WIDTH, mask + (ALL + 2) * WIDTH, WIDTH);
}

TEST(test_scale)
{
    assert_true(dropout_layout(&(Arena){0}, 0, NULL, 0, 0).scale == 1);
    assert_true(dropout_layout(&(Arena){0}, 0, NULL, 0.5, 0).scale == 2);
    const double rates[] = {0.1, 0.3, 0.9};
    for (int i = 0; i < 3; i++)  // rates are rounded to 1/65536
        assert_true(fabs((double)dropout_layout(&(Arena){0}, 0, NULL, rates[i], 0).scale *
                             (1 - rates[i]) -
                         1) < 1e-4);
    decide(mask, 0, 1000, &base, 0, 3, 0);
    assert_int_equal(ones(mask, 1000, 1), 1000);
}

TEST_MAIN("dropout", NULL, NULL)
