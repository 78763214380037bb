/* embedding.h -- from token ids to vectors: a row of the embedding plus its position. */
#pragma once

#include "base/packed.h"
#include "base/real.h"
#include "kernels/matrix.h"
#include "model/dropout.h"

/* X [N,D] (=) √D · E [V,D] + P
 * P [at least the longest sentence, D] or NULL: no positions
 * shifted: teacher forcing, the decoder's input: <pad> (its id is pad), then the sentence
 * without its last token. Otherwise the sentence itself; pad is not used. */
void embedding_forward(real *X, const Packed *rows, bool shifted, int pad, const Matrix *E,
                       const real *P, int D);

/* dE [V,D] (+=) except the row of <pad>, which stays zero   dP [at least the longest sentence, D]
 * (+=), or NULL: positions are not learned   dX [N,D] */
void embedding_backward(real *dE, real *dP, const real *dX, const Packed *rows, bool shifted,
                        const DropoutMask *mask, int D);

/* P [count,D] (=) sinusoidal positions: sines in the first half of a row, cosines in the second. */
void position_table(real *P, int count, int D);
