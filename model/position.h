/* position.h -- what tells the network where in its sentence a token stands. */
#ifndef MODEL_POSITION_H
#define MODEL_POSITION_H

#include "base/packed.h"
#include "base/real.h"

#include <stdint.h>

/* P [count,D] (=): sinusoids, all sines in the first half of a row, all cosines in the second. */
void position_table(real *P, int count, int D);

/* Where P is learned: dP [at least the longest sentence, D] (+=)   dX [N,D]   keep [N,D] or NULL */
void position_backward(real *dP, const real *dX, const Packed *rows, const uint8_t *keep,
                       real scale, int D);

#endif
