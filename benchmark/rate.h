/* rate.h -- the speed of some work, and the share of the processor's peak that it reaches.
 *
 *   burst | work 1 | burst | work 2 | burst | …
 *
 * On a shared machine work and sgemm slow down together, so each piece of work is compared with
 * the bursts right before and right after it. The totals are sums of operations over sums of
 * seconds, so that each piece counts by its work. The median over the pieces is given too: a
 * piece that was disturbed while its bursts were not, or the reverse, changes a sum but not a
 * median. If the two differ, the machine was busy. */
#pragma once

#include "benchmark/peak.h"

enum { MOST_PIECES = 4096 };

typedef struct Rate {
    int pieces;
    double seconds;       // of the work
    double flops;         // FLOP/s of the work: the products that the mathematics needs
    double peak;          // FLOP/s of sgemm in between
    double share;         // flops / peak
    double share_median;  // the median of the pieces' own shares
    double tile;  // operations per second of the innermost loop of our products, in between
    double share_of_tile;
} Rate;

typedef struct RateMeter {
    Peak *peak;
    int products;   // of a burst
    double before;  // FLOP/s of the last burst
    double operations, seconds;
    double inverse;         // Σ 1 / peak of each piece
    Arithmetic arithmetic;  // of the work
    double tile_inverse;    // Σ 1 / peak_tile of each piece
    double share[MOST_PIECES];
    int pieces;
} RateMeter;

/* seconds: about what a piece of work takes. A burst takes a tenth of that, at least 40 ms. */
void rate_begin(RateMeter *meter, Peak *peak, Arithmetic arithmetic, double seconds);

/* Call this after each piece of work, at most MOST_PIECES times: it runs the next burst. */
void rate_add(RateMeter *meter, double operations, double seconds);

Rate rate_end(RateMeter *meter);

/* The median; sorts values [count]. */
double rate_median(double *values, int count);
