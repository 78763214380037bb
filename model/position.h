/* position.h -- what tells the network where in its sentence a token stands. */
#ifndef MODEL_POSITION_H
#define MODEL_POSITION_H

#include "base/real.h"

/* P [count,D] (=): sinusoids, all sines in the first half of a row, all cosines in the second. */
void position_table(real *P, int count, int D);

#endif
