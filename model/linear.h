/* linear.h -- Y = X Wᵀ + b, with W in any layout (kernels/matrix.h). */
#pragma once

#include "model/params.h"

/* Y [N,D_out] (=)   X [N,D_in]   w: W [D_out,D_in], b [D_out] */
void linear_forward(real *Y, const real *X, const Linear *w, int N, int D_out, int D_in);

/* dX [N,D_in] (mode: SET or ADD)   dw: dW, db (+=)   dY [N,D_out]   X, w as in forward */
void linear_backward(GemmMode mode, real *dX, const Linear *dw, const real *dY, const real *X,
                     const Linear *w, int N, int D_out, int D_in);

/* db [D] (+=) the sum of the rows of dY [N,D] */
void bias_backward(real *db, const real *dY, int N, int D);
