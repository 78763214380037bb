/* rng.h -- counter-based random numbers.
 *
 * Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a 128-bit
 * counter is encrypted under a 64-bit key, which gives four 32-bit numbers. No state is saved:
 * the same seed, purpose and index give the same numbers on any thread and after any resume. */
#pragma once

#include "base/c.h"

/* Streams of one seed with different purposes are independent. */
typedef enum {
    RNG_INIT = 1,
    RNG_SHUFFLE,
    RNG_DROPOUT,
    RNG_SAMPLE,
    RNG_TEST,
    RNG_AUGMENT
} RngPurpose;

/* out = Philox4x32-10(counter, key). Inline, so that a loop over counters vectorises. */
static inline void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* A stream read in order: the numbers 0, 1, 2, … of (seed, purpose, index). */
typedef struct Rng {
    uint32_t key[2], counter[4], word[4];
    int next;  // index of the next word; 4: generate a block first
} Rng;

Rng rng_stream(uint64_t seed, RngPurpose purpose, uint64_t index);
uint32_t rng_word(Rng *rng);               // 32 random bits
uint32_t rng_below(Rng *rng, uint32_t n);  // 0 .. n-1, unbiased; n > 0
double rng_uniform(Rng *rng);              // [0, 1), 53 bits
double rng_normal(Rng *rng);               // mean 0, variance 1
