/* scorefunction.c -- the table of score functions; see scorefunction.h.
 *
 *   scaled-dot   q·k / √dh   Vaswani et al. 2017, §3.2.1
 *   dot          q·k         Luong et al. 2015, §3.1
 *   dot-over-d   q·k / dh    a common misreading of the first */
#include "model/scorefunction.h"

#include <math.h>

static real inverse_root(int dh)
{
    return 1 / (real)sqrt(dh);
}

static real one(int dh)
{
    (void)dh;
    return 1;
}

static real inverse(int dh)
{
    return 1 / (real)dh;
}

const char *const score_names[] = {"scaled-dot", "dot", "dot-over-d", NULL};

const ScoreFunction score_functions[] = {
    [SCORE_SCALED_DOT] = {"q·k/√d_k", inverse_root},
    [SCORE_DOT] = {"q·k", one},
    [SCORE_DOT_OVER_D] = {"q·k/d_k", inverse},
};
