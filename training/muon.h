/* muon.h -- the update of a layer's matrix by Muon: orthogonalised momentum. */
#pragma once

#include "kernels/gemm.h"

/* Of any part of a matrix: m (=) the momentum after a gradient of scale · g, which starts at zero;
 * g (=) u, the direction that it gives. */
void muon_momentum(real *g, real *m, size_t count, double scale);

/* The numbers of `workspace` for a matrix of this size. */
size_t muon_workspace(int rows, int columns);

/* Returns u [rows,columns] orthogonalised, in the workspace; NULL if u is zero.
 * precision: SET or BF16, of the products. */
const real *muon_orthogonal(real *workspace, const real *u, int rows, int columns,
                            GemmMode precision);

/* Of any part of a matrix of this size: W (=) after the update along X. */
void muon_update(real *W, const real *X, size_t count, double rate, int rows, int columns);
