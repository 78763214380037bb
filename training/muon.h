/* muon.h -- the update of a layer's matrix by Muon: orthogonalised momentum. */
#pragma once

#include "kernels/matrix.h"

typedef struct MuonStep {
    double rate;            // learning rate of this update
    double gradient_scale;  // g is multiplied by it: gradient norm clipping
    GemmMode precision;     // of the products: SET or BF16
} MuonStep;

/* The numbers of `workspace` for a matrix of this size. */
size_t muon_workspace(int rows, int columns);

/* W, m [rows,columns] (=) after one update with gradient g [rows,columns], all three in
 * `layout`; m starts at zero. */
void muon_update(real *W, real *m, const real *g, MatrixLayout layout, int rows, int columns,
                 const MuonStep *step, real *workspace);
