/* real.h -- the type of every number in the network, and the smaller of two counts.
 *
 * real is float in the program; it is double in the build that checks derivatives
 * (-DREAL_IS_DOUBLE), where a central difference agrees with a correct derivative to about nine
 * digits instead of two. */
#pragma once

#include "base/c.h"

/* Always inlined: a call with constant arguments is compiled to a loop of its own, without
 * their conditions. */
#define INLINED static inline __attribute__((always_inline))

#ifdef REAL_IS_DOUBLE
typedef double real;
#else
typedef float real;
#endif

static inline int at_most(int count, int limit)
{
    return count < limit ? count : limit;
}
