/* panels.h -- matrices packed in the order in which the tile reads them.
 *
 * A matrix B [k,n] is cut into panels of TILE_COLUMNS columns; in each, the rows are
 * consecutive. With two columns a panel:
 *
 *     a b c d
 *     e f g h      a b e f i j | c d g h k l
 *     i j k l
 *
 * A product packs its B block by block (gemm.c). A matrix of weights W [n,k], which is the
 * B = Wᵀ of Y = X Wᵀ, can stay packed: TILE_COLUMNS rows of W are a panel, and the last one is
 * padded with zeros. Only for kernels/: the other folders see matrix.h. */
#pragma once

#include "kernels/tile.h"

/* How many reals B [k,n] takes in panels. They must be aligned as arena.h aligns. */
size_t panels_size(int n, int k);

/* panels (=) B [k,n], the last one padded with zeros. */
void panels_copy(real *panels, Strided B, int n, int k);

/* Rows first .. first+n-1 of panels (=) W [n,k], as B = Wᵀ. */
void panels_put(real *panels, int first, const real *W, int n, int k);

/* x [k] (=) a row of W [n,k] */
void panels_row(real *x, const real *panels, int row, int k);
