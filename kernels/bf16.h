/* bf16.h -- factors of a product rounded to bfloat16, whose sums stay in float.
 *
 * A bfloat16 is the upper half of a float: the same exponents, 8 bits of precision. AVX512-BF16
 * (VDPBF16PS) adds two products of them in the time of one of floats. So its tile reads pairs,
 * the numbers p and p + 1 of k in four bytes, the first one in the lower half; AMX reads the same (amx.h):
 *
 *     A [m,k/2]   row by row: a pair in every lane of a vector
 *     B           panels [k/2,TILE_COLUMNS] (panels.h): a vector has the pairs of LANES columns
 *
 * An odd k ends with a pair whose second number is 0. A pair is as long as a float, so a tile of
 * pairs is a Tile with k/2 in place of k. Other processors multiply the rounded numbers as
 * floats. The products are exact in both; the order of the sums differs.
 *
 * Rounding is to nearest, ties to even. The instructions take denormal numbers as 0. */
#pragma once

#include "kernels/tile.h"

/* Whether this kind multiplies pairs, and this processor too. */
bool bf16_pairs(void);

/* Whether that is faster than floats. Processors with AMX (amx.h) run VDPBF16PS slowly: without leave to
 * use AMX it takes longer. */
bool bf16_is_faster(void);

/* How many pairs a row of k numbers takes in a copy: whole vectors. */
static inline size_t bf16_row(int k)
{
    return (size_t)(k + 2 * LANES - 1) / (2 * LANES) * LANES;
}

/* T (=) the pairs of X [n,k], whose pairs of k follow each other in rows ldt apart; transposed:
 * [bf16_row(k),n]. Pairs after k are 0. It also writes the rest of the last 16 rows or columns. */
void bf16_copy(real *T, size_t ldt, bool transposed, Strided X, int n, int k);

/* Rounds each number of x to bfloat16. */
void bf16_round(real *x, size_t count);
