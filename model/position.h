/* position.h -- sinusoidal positional encoding: a vector for each position in a sentence. */
#ifndef MODEL_POSITION_H
#define MODEL_POSITION_H

#include "base/real.h"

/* P [count,D] (=): sines in the first half of a row, cosines in the second. */
void position_table(real *P, int count, int D);

#endif
