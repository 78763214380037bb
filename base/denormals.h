/* denormals.h -- while a thread computes, numbers below 1.2e-38 are zeros.
 *
 * Between 1.2e-38 and 0 lie the denormal numbers, which a processor's multiply-add takes a hundred
 * times as long for. Attention that has become sharp is full of them: a share of 1e-30 times a
 * gradient of 1e-9. Nothing is lost with them, since what they are added to is larger by far; but
 * training is twice as fast without them (docs/speed.md). */
#ifndef BASE_DENORMALS_H
#define BASE_DENORMALS_H

#if defined __SSE2__
#include <immintrin.h>

/* Returns what denormals_restore takes. */
static inline unsigned denormals_off(void)
{
    enum { FLUSH_RESULTS_TO_ZERO = 0x8000, TAKE_INPUTS_FOR_ZERO = 0x0040 };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_RESULTS_TO_ZERO | TAKE_INPUTS_FOR_ZERO);
    return before;
}

static inline void denormals_restore(unsigned before)
{
    _mm_setcsr(before);
}
#else
static inline unsigned denormals_off(void)
{
    return 0;
}

static inline void denormals_restore(unsigned before)
{
    (void)before;
}
#endif

#endif
