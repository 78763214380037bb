/* rng.c -- Philox4x32-10 against the known answers of its authors, and streams and
 * distributions against what they promise. */
#include "tests/fixtures/test.h"
#include <math.h>

#include "base/rng.h"

/* Random123, tests/kat_vectors, "philox4x32 10" (Salmon et al. 2011). */
TEST(philox_gives_the_known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}},
        {{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF},
         {0xFFFFFFFF, 0xFFFFFFFF},
         {0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}},
        {{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344},
         {0xA4093822, 0x299F31D0},
         {0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        philox4x32(out, known[i].counter, known[i].key);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* A stream is the blocks of its counter, in order: 64 bits of index above, 32 of place
 * below. */
TEST(a_stream_is_its_blocks)
{
    uint64_t seed = 0x0123456789ABCDEF, index = 0xFEDCBA9876543210;
    uint32_t key[2] = {0x89ABCDEF, 0x01234567};
    Rng rng = rng_stream(seed, RNG_TEST, index);
    for (uint32_t block = 0; block < 3; block++) {
        uint32_t counter[4] = {block, RNG_TEST, 0x76543210, 0xFEDCBA98}, out[4];
        philox4x32(out, counter, key);
        for (int i = 0; i < 4; i++) assert_int_equal(rng_word(&rng), out[i]);
    }
}

/* A count of n draws of probability p has deviation √(n p (1-p)), and five of them are allowed.
 * Of 3·2^30 numbers, a plain `word % n` gives the first third half of the time: 87
 * deviations. */
TEST(below_is_even)
{
    enum { DRAWS = 60000, SIDES = 6 };
    Rng rng = rng_stream(5, RNG_TEST, 0);
    int count[SIDES] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t side = rng_below(&rng, SIDES);
        assert_true(side < SIDES);
        count[side]++;
    }
    double deviation = sqrt(DRAWS * (1.0 / SIDES) * (1 - 1.0 / SIDES));
    for (int i = 0; i < SIDES; i++)
        assert_true(fabs(count[i] - DRAWS / (double)SIDES) < 5 * deviation);

    uint32_t n = 3u << 30;
    int low = 0;
    for (int i = 0; i < DRAWS; i++) low += rng_below(&rng, n) < n / 3;
    assert_true(fabs(low - DRAWS / 3.0) < 5 * sqrt(DRAWS * 2 / 9.0));
    for (int i = 0; i < 100; i++) assert_int_equal(rng_below(&rng, 1), 0);
}

TEST(uniform_and_normal_have_their_moments)
{
    enum { DRAWS = 100000 };
    Rng rng = rng_stream(7, RNG_TEST, 3);
    double sum = 0, squares = 0, least = 1, most = 0;
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_uniform(&rng);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
        least = fmin(least, u);
        most = fmax(most, u);
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(1 / 12.0 / DRAWS));
    assert_true(fabs(squares / DRAWS - 1 / 3.0) < 5 * sqrt(4 / 45.0 / DRAWS));
    assert_true(least < 1e-3 && most > 1 - 1e-3);

    double moment[5] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double z = rng_normal(&rng);
        assert_true(isfinite(z));
        for (int k = 1; k <= 4; k++) moment[k] += pow(z, k) / DRAWS;
    }
    assert_true(fabs(moment[1]) < 5 * sqrt(1.0 / DRAWS));
    assert_true(fabs(moment[2] - 1) < 5 * sqrt(2.0 / DRAWS));
    assert_true(fabs(moment[3]) < 5 * sqrt(15.0 / DRAWS));
    assert_true(fabs(moment[4] - 3) < 5 * sqrt(96.0 / DRAWS));
}

TEST_MAIN("rng", NULL, NULL)
