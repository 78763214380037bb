/* embedding.h -- from token ids to vectors: the shared table, and the positions added to it. */
#ifndef MODEL_EMBEDDING_H
#define MODEL_EMBEDDING_H

#include <stdbool.h>

#include "base/packed.h"
#include "base/real.h"
#include "model/dropout.h"

/* X [N,D] (=)   E [V,D]   positions [at least the longest sentence, D]   keep [N,D] or NULL
 * shifted: the decoder's input, <pad> (= pad) and then the sentence without its last token
 * (teacher forcing); otherwise the sentence itself, and pad is not used. */
void embedding_forward(real *X, const Packed *rows, bool shifted, int pad, const real *E,
                       const real *positions, const uint8_t *keep, real scale, int D);

/* dE [V,D] (+=), the row of <pad> excepted: it stays zero   dX [N,D] */
void embedding_backward(real *dE, const real *dX, const Packed *rows, bool shifted,
                        const uint8_t *keep, real scale, int D);

#endif
