/* denormals.h -- switches a thread to treat numbers below 1.2e-38 as zeros.
 *
 * A multiply-add of such denormal numbers takes a hundred times as long. Sharp attention is
 * full of them: a probability of 1e-30 times a gradient of 1e-9. They are added to far larger
 * numbers, so nothing is lost, and training is twice as fast without them (docs/speed.md). */
#ifndef BASE_DENORMALS_H
#define BASE_DENORMALS_H

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Returns the mode before, for denormals_restore. */
static inline unsigned denormals_off(void)
{
    unsigned before = 0;
#ifdef __SSE2__
    enum { FLUSH_RESULTS_TO_ZERO = 0x8000, TAKE_INPUTS_FOR_ZERO = 0x0040 };
    before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_RESULTS_TO_ZERO | TAKE_INPUTS_FOR_ZERO);
#endif
    return before;
}

static inline void denormals_restore(unsigned before __attribute__((unused)))
{
#ifdef __SSE2__
    _mm_setcsr(before);
#endif
}

#endif
