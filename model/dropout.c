/* dropout.c -- the masks of inverted dropout, from a vector of Philox counters; see dropout.h.
 *
 * A group is 16 counters of 4 words of 32 bits: 128 decisions of 16 bits. Counter c of a group
 * decides elements c, 16 + c, 32 + c, …, so that every loop runs over 16 adjacent elements. */
#include "model/dropout.h"

#include "base/rng.h"

enum { LANES = 16, GROUP = 8 * LANES };

static uint32_t threshold(double rate)
{
    return (uint32_t)lrint(rate * 65536);
}

DropoutMask dropout_layout(Arena *arena, size_t count, const Dropout *dropout, double rate,
                           uint32_t place)
{
    uint8_t *keep = rate > 0 ? ARENA_TAKE(arena, uint8_t, count) : NULL;
    return (DropoutMask){keep, rate, (real)(65536.0 / (65536 - threshold(rate))), dropout,
                         place};
}

void dropout_apply(real *Y, const real *X, const DropoutMask *mask, size_t count)
{
    real scale = mask->scale;
    const uint8_t *keep = mask->keep;
    if (!keep) return;
#pragma omp simd
    for (size_t i = 0; i < count; i++) Y[i] = X[i] * (scale * (real)keep[i]);
}

static void group(uint8_t keep[GROUP], const Dropout *dropout, uint32_t limit, uint32_t place,
                  uint32_t sentence, uint32_t number)
{
    uint32_t word[4][LANES];
    const uint32_t key[2] = {(uint32_t)dropout->seed ^ RNG_DROPOUT << 24,
                             (uint32_t)(dropout->seed >> 32)};
#pragma omp simd
    for (int c = 0; c < LANES; c++) {
        uint32_t out[4],
            counter[4] = {number * LANES + (uint32_t)c, place, sentence, dropout->update};
        philox4x32(out, counter, key);
        word[0][c] = out[0], word[1][c] = out[1], word[2][c] = out[2], word[3][c] = out[3];
    }
    for (int w = 0; w < 4; w++)
#pragma omp simd
        for (int c = 0; c < LANES; c++) {
            keep[(2 * w) * LANES + c] = (word[w][c] & 0xffff) >= limit;
            keep[(2 * w + 1) * LANES + c] = (word[w][c] >> 16) >= limit;
        }
}

void dropout_sentence(uint8_t *keep, size_t first, size_t count, const DropoutMask *mask,
                      int sentence)
{
    const Dropout *dropout = mask->dropout;
    bool again = dropout->copy && sentence >= dropout->copy;
    int own = again ? sentence - dropout->copy : sentence;
    uint32_t limit = threshold(mask->rate), second = again ? 1u << 31 : 0;
    uint32_t index = (uint32_t)(dropout->sentence ? dropout->sentence[own] : own) + second;
    while (count > 0) {
        size_t skip = first % GROUP, here = GROUP - skip < count ? GROUP - skip : count;
        uint8_t part[GROUP];
        group(here < GROUP ? part : keep, dropout, limit, mask->place, index,
              (uint32_t)(first / GROUP));
        if (here < GROUP) memcpy(keep, part + skip, here);
        first += here, count -= here, keep += here;
    }
}

void dropout_rows(const DropoutMask *mask, const Packed *rows, int width)
{
    for (int s = 0; mask->keep && s < rows->sentences; s++) {
        size_t first = (size_t)rows->start[s] * (size_t)width;
        size_t end = (size_t)rows->start[s + 1] * (size_t)width;
        dropout_sentence(mask->keep + first, 0, end - first, mask, s);
    }
}
