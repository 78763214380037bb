/* rng.c -- streams of Philox numbers; see rng.h. */
#include "base/rng.h"

Rng rng_stream(uint64_t seed, RngPurpose purpose, uint64_t index)
{
    return (Rng){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                 .counter = {0, (uint32_t)purpose, (uint32_t)index, (uint32_t)(index >> 32)},
                 .next = 4};
}

uint32_t rng_word(Rng *rng)
{
    if (rng->next == 4) {
        philox4x32(rng->word, rng->counter, rng->key);
        rng->counter[0]++;
        rng->next = 0;
    }
    return rng->word[rng->next++];
}

/* Lemire 2019, "Fast random integer generation in an interval": the high half of a product is
 * the number; a low half below 2^32 mod n would favour some numbers and is drawn again. */
uint32_t rng_below(Rng *rng, uint32_t n)
{
    uint64_t product = (uint64_t)rng_word(rng) * n;
    if ((uint32_t)product < n)
        for (uint32_t least = -n % n; (uint32_t)product < least;)
            product = (uint64_t)rng_word(rng) * n;
    return (uint32_t)(product >> 32);
}

double rng_uniform(Rng *rng)
{
    uint64_t high = rng_word(rng) >> 5, low = rng_word(rng) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

/* Box and Muller 1958. */
double rng_normal(Rng *rng)
{
    double u = 1 - rng_uniform(rng), v = rng_uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
