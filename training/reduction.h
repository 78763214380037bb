/* reduction.h -- the fixed order in which accumulators are summed, and which rank makes which
 * sum.
 *
 * Accumulators 0 .. used-1 are the leaves of a binary tree. At step 1, 2, 4, … node a adds node
 * a + step to itself, for every a that is a multiple of 2·step:
 *
 *     leaf     0   1   2   3   4   5   6            sum   ((0+1)+(2+3)) + ((4+5)+6)
 *     step 1   0 + 1   2 + 3   4 + 5   6
 *     step 2   0   +   2       4   +   6
 *     step 4   0       +       4
 *
 * Floating-point addition is not associative; the same tree gives the same bits on any number
 * of ranks.
 *
 * Of A accumulators, rank r of R holds a contiguous range. A sum (a pair) whose leaves all lie
 * in one range is local: that rank makes it. After the local sums, a range has left its roots:
 * one if the range is a whole subtree, as with powers of two, else a few. The owner of a number
 * of the parameter block receives the roots of every rank and makes the other sums. */
#pragma once

#include <stdbool.h>

typedef struct Reduction {
    int accumulators, ranks;  // A, R; R <= A
} Reduction;

typedef struct ReductionPair {
    int left, right;  // left += right
} ReductionPair;

/* The first accumulator of a rank; rank r holds those before reduction_first(r + 1). */
int reduction_first(Reduction reduction, int rank);
int reduction_rank(Reduction reduction, int accumulator);

/* pairs [A] (=) the sums that a rank makes, in order: its local ones and, with `owner`, those
 * that are local to no rank. Returns their number. */
int reduction_pairs(ReductionPair *pairs, Reduction reduction, int used, int rank, bool owner);

/* place [A] (=) the number of a root among the roots of its rank, from 0; -1 for other leaves.
 * Returns the largest number of roots that a rank has; a smaller `used` never makes it
 * larger. */
int reduction_places(int *place, Reduction reduction, int used);
