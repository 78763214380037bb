/* tree.h -- the fixed order in which accumulators are summed, and who sums what.
 *
 * Accumulators 0 .. used-1 are the leaves of a binary tree. At step 1, 2, 4, … node a takes up
 * node a + step, for every a that is a multiple of 2·step:
 *
 *     leaf     0   1   2   3   4   5   6            sum   ((0+1)+(2+3)) + ((4+5)+6)
 *     step 1   0 + 1   2 + 3   4 + 5   6
 *     step 2   0   +   2       4   +   6
 *     step 4   0       +       4
 *
 * Floating-point addition is not associative; the same tree gives the same bits, whoever adds.
 *
 * Of A accumulators, rank r of R holds a contiguous range. A sum (a pair) whose leaves all lie in
 * one range is local: that rank makes it. What is left of a range after its local sums are its
 * roots: one, if the range is a whole subtree, as with powers of two; else a few. The owner of
 * a number of the parameter block gets every rank's roots of it and makes the other sums. */
#ifndef TRAINING_TREE_H
#define TRAINING_TREE_H

#include <stdbool.h>

typedef struct Tree {
    int accumulators, ranks;  // A, R; R <= A
} Tree;

typedef struct TreePair {
    int left, right;  // node left takes up node right
} TreePair;

/* The first accumulator of a rank; rank r holds tree_first(r) .. tree_first(r + 1) - 1. */
int tree_first(Tree tree, int rank);
int tree_rank(Tree tree, int accumulator);

/* pairs [A] (=) the sums that a rank makes, in order: its local ones, and with `owner` also those
 * that are nobody's local ones. Returns their number. */
int tree_pairs(TreePair *pairs, Tree tree, int used, int rank, bool owner);

/* place [A] (=) for a root its number among the roots of its rank, 0 up; -1 for other leaves.
 * Returns the largest number of roots that a rank has; no smaller `used` makes it larger. */
int tree_places(int *place, Tree tree, int used);

#endif
