/* muon.h -- the update of a layer's matrix by Muon: orthogonalised momentum. */
#pragma once

#include "kernels/matrix.h"

/* The numbers of `workspace` for a matrix of this size. */
size_t muon_workspace(int rows, int columns);

/* W, m [rows,columns] (=) after one update with gradient g [rows,columns], all three in
 * `layout`; m starts at zero. g is multiplied by `scale`: gradient norm clipping. precision: SET or
 * BF16, of the products. */
void muon_update(real *W, real *m, const real *g, MatrixLayout layout, int rows, int columns,
                 double rate, double scale, GemmMode precision, real *workspace);
