/* activation.h -- GELU and Swish with their derivatives, without branches, so that loops over
 * them are vectorised. (ReLU is in feedforward.c.)
 *
 *   GELU    f(x) = x Φ(x), Φ the normal distribution      Hendrycks and Gimpel 2016 (1606.08415)
 *   Swish   f(x) = x σ(x), σ the logistic function        Ramachandran et al. 2017 (1710.05941);
 *                                                         β = 1, also known as SiLU
 *
 * Both are x S(x) with S(x) + S(-x) = 1. With z = |x| only the tail S(-z) is computed, which is
 * small where S itself would be 1 up to rounding:
 *
 *   f(x)  = max(0, x) - z S(-z)
 *   f'(x) = q if x < 0, 1 - q if not         q = S(-z) - z S'(z)
 *
 * Φ(-z) = e^(-z²/2) t P(t) with t = 3 / (3 + z) and P a polynomial of degree 8, fitted to the
 * ratio of tail and density (Mills' ratio) on [0, 13], with a relative error of 4e-8. So this
 * is the GELU of erf, not of tanh. The errors are below 1e-7 max(1, |x|) for f and below 2e-7
 * for f' (tests/model/activation.c). z is limited: beyond the limit f is x, or less than 1e-31
 * from zero. NaN stays NaN. The double build, which checks gradients, calls libm. */
#pragma once

#include "kernels/vecexp.h"

typedef struct Activated {
    real value;  // f(x)
    real slope;  // f'(x)
} Activated;

/* tail = S(-z), density = S'(z), z = |x| up to a limit */
static inline Activated activated(real x, real z, real tail, real density)
{
    real q = tail - z * density;
    return (Activated){(x < 0 ? 0 : x) - z * tail, x < 0 ? q : 1 - q};
}

static inline real magnitude(real x, real limit)
{
    x = x < 0 ? -x : x;
    return x > limit ? limit : x;
}

/* Φ(-z), given e^(-z²/2) */
static inline real normal_tail(real z, real e)
{
#ifdef REAL_IS_DOUBLE
    (void)e;
    return erfc(z / sqrt(2)) / 2;
#else
    real t = 3 / (3 + z), p = -0x1.7fe6bap-6f;
    p = p * t + 0x1.0fe9b8p-3f;
    p = p * t - 0x1.1c57b6p-2f;
    p = p * t + 0x1.ceff10p-3f;
    p = p * t - 0x1.dc393ap-5f;
    p = p * t + 0x1.f32f8ap-4f;
    p = p * t + 0x1.ca7f84p-4f;
    p = p * t + 0x1.11b180p-3f;
    p = p * t + 0x1.1048c6p-3f;
    return e * (t * p);
#endif
}

static inline Activated gelu(real x)
{
    const real root = (real)0.39894228040143267794;  // 1 / √(2π)
    real z = magnitude(x, 12), e = vec_exp(-z * z / 2);
    return activated(x, z, normal_tail(z, e), root * e);
}

static inline Activated swish(real x)
{
    real z = magnitude(x, 80), e = vec_exp(-z), head = 1 / (1 + e), tail = e * head;
    return activated(x, z, tail, head * tail);
}
