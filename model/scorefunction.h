/* scorefunction.h -- how a query and a key are compared, before the softmax: the table of score
 * functions. */
#pragma once

#include "base/real.h"
#include "model/config.h"

typedef struct ScoreFunction {
    const char *formula;     // "q·k/√d_k"
    real (*factor)(int dh);  // of q·k
} ScoreFunction;

/* Indexed by Score, as the names. */
extern const ScoreFunction score_functions[];
extern const char *const score_names[];  // ends in NULL
