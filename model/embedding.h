/* embedding.h -- from token ids to vectors: a row of the table, and the position added to it. */
#ifndef MODEL_EMBEDDING_H
#define MODEL_EMBEDDING_H

#include <stdbool.h>

#include "base/packed.h"
#include "base/real.h"
#include "kernels/matrix.h"
#include "model/dropout.h"

/* X [N,D] (=)   E [V,D]
 * P [at least the longest sentence, D] or NULL: no positions   keep [N,D] or NULL
 * shifted: the decoder's input, <pad> (= pad) and then the sentence without its last token
 * (teacher forcing); otherwise the sentence itself, and pad is not used. */
void embedding_forward(real *X, const Packed *rows, bool shifted, int pad, const Matrix *E,
                       const real *P, const uint8_t *keep, real scale, int D);

/* dE [V,D] (+=), the row of <pad> excepted: it stays zero   dX [N,D]   (dP is position.h's) */
void embedding_backward(real *dE, const real *dX, const Packed *rows, bool shifted,
                        const uint8_t *keep, real scale, int D);

#endif
