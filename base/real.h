/* real.h -- the type of every number in the network.
 *
 * float in the program; double in the build that checks derivatives (-DREAL_IS_DOUBLE), where
 * a central difference agrees with a correct derivative to about nine digits instead of two. */
#ifndef BASE_REAL_H
#define BASE_REAL_H

#ifdef REAL_IS_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#endif
