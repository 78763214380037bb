/* linear.h -- Y = X Wᵀ + b, with W in any layout (kernels/matrix.h). */
#pragma once

#include "model/params.h"

/* Y [N,D_out] (=)   X [N,D_in]   w: W [D_out,D_in]
 * b: the layer's own [D_out], or NULL if the caller adds it in a later pass over Y */
void linear_forward(real *Y, const real *X, const Linear *w, const real *b, int N, int D_out,
                    int D_in);

/* dX [N,D_in] (mode: SET or ADD)   dw: dW [D_out,D_in] (+=)   dY [N,D_out]   X, w as in forward
 * The bias has its own function, because most layers add it in a later pass. */
void linear_backward(GemmMode mode, real *dX, const Linear *dw, const real *dY, const real *X,
                     const Linear *w, int N, int D_out, int D_in);

/* db [D] (+=) the sum of the rows of dY [N,D]: the gradient of a bias that is added to every
 * row. */
void bias_backward(real *db, const real *dY, int N, int D);
