/* panels.h -- matrices in the order in which the tile reads them.
 *
 * A matrix B [k,n] is cut into panels of TILE_COLUMNS columns, each with its rows one behind the
 * other. With two columns a panel:
 *
 *     a b c d
 *     e f g h      a b e f i j | c d g h k l
 *     i j k l
 *
 * A product copies its B into panels, block by block (gemm.c). A matrix of weights W [n,k], which
 * is the B = Wᵀ of Y = X Wᵀ, can lie in panels for good: TILE_COLUMNS rows of W are one, and the
 * last one is filled with zeros. */
#ifndef KERNELS_PANELS_H
#define KERNELS_PANELS_H

#include "kernels/tile.h"

enum { PANELS_DEPTH = 4096 };  // the most columns of a W that is packed in place

/* Reals of B [k,n] in panels. They must be aligned as arena.h aligns. */
size_t panels_size(int n, int k);

/* panels (=) B [k,n], the last one filled with zeros. */
void panels_copy(real *panels, Strided B, int n, int k);

/* panels (=) W [k,n] as a B, where W is k rows and n columns of a matrix that lies in panels itself
 * and has `columns` columns; W: where they begin. k: a multiple of TILE_COLUMNS   n: of LANES */
void panels_turn(real *panels, const real *W, int columns, int n, int k);

/* panels (=) W [n,k] as B = Wᵀ, and back */
void panels_pack(real *panels, const real *W, int n, int k);
void panels_unpack(real *W, const real *panels, int n, int k);

/* The same in place. n: a multiple of TILE_COLUMNS   k <= PANELS_DEPTH */
void panels_pack_in_place(real *W, int n, int k);
void panels_unpack_in_place(real *W, int n, int k);

/* x [k] (=) a row of W [n,k] */
void panels_row(real *x, const real *panels, int row, int k);

#endif
