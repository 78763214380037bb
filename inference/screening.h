/* screening.h -- the most probable token without all logits in float (after Chen et al. 2019, arXiv
 * 1810.12406, who learn what to leave out).
 *
 * Two steps: all logits from int8, z' (int8.h), and then in float those that can be the largest.
 * With w' and x' the rounded w and x, and n numbers a row,
 *
 *   |z_c - z'_c| = |x·(w_c - w'_c) + (x - x')·w'_c|
 *               <= |x| max_c |w_c - w'_c| + |x - x'| max_c |w'_c| = e,      |x - x'| <= √n max|x| / 254
 *
 * A token with z'_c < max z' - 2e is not the best one. The others are found as without screening, bit
 * for bit. For greedy search without scores: a score needs the sum over all tokens. */
#pragma once

#include "model/transformer.h"

typedef struct Screening {
    const Matrix *output;    // the network's, packed
    const real *bias;        // [V] and its biases
    const Int8Matrix *rows;  // [V] the same, rounded
    double error;            // max |w_c - w'_c|
    double norm;             // max |w'_c|
    double most_bias;        // max |bias|
    Arena arena;
} Screening;

/* Of a network that is prepared with floats and stays where it is. */
bool screening_open(Screening *screening, const Transformer *model, Error *error);
void screening_close(Screening *screening);  // allowed on {0}

/* The bound e for a row x [n], with what float sums lose. */
double screening_bound(const Screening *screening, const real *x);

/* The token with the largest z, the first of equal ones; -1 if all are -infinity.
 * z [V-1]: z'; -infinity for tokens that are not wanted   x [n] */
int screening_best(const Screening *screening, const real *z, const real *x);
