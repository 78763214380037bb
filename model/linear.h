/* linear.h -- Y = X Wᵀ + b; every matrix of weights except the embedding works through it. */
#ifndef MODEL_LINEAR_H
#define MODEL_LINEAR_H

#include "base/real.h"
#include "kernels/gemm.h"
#include "model/params.h"

/* Y [N,D_out] (=)   X [N,D_in]   w: W [D_out,D_in], in whichever form it is there
 * b: the layer's own [D_out], or NULL where the caller adds it itself, in a pass over Y that it
 * makes anyway */
void linear_forward(real *Y, const real *X, const Linear *w, const real *b, int N, int D_out,
                    int D_in);

/* Row `row` of W: where it lies, or, if W is in panels or ready, in x [D_in]. */
const real *linear_row(real *x, const Linear *w, int row, int D_in);

/* dX [N,D_in] (mode: SET or ADD)   dw: dW [D_out,D_in] (+=)   db [D_out] (+=), or NULL
 * dY [N,D_out]   X, w as in forward */
void linear_backward(GemmMode mode, real *dX, const Linear *dw, real *db, const real *dY,
                     const real *X, const Linear *w, int N, int D_out, int D_in);

/* db [D] (+=) the sum of the rows of dY [N,D]: of a bias that was added to every row. */
void bias_backward(real *db, const real *dY, int N, int D);

#endif
