/* choices.c -- see choices.h. */
#include "inference/choices.h"

#include <math.h>

#include "base/packed.h"
#include "inference/constraints.h"

/* Whether all of z [C] are finite. */
static bool all_finite(const real *z, int C)
{
    int infinite = 0;
#pragma omp simd reduction(| : infinite) simdlen(16)
    for (int c = 0; c < C; c++) infinite |= !(z[c] - z[c] == 0);
    return !infinite;
}

enum { BLOCK = 64 };

/* Whether any of z [BLOCK] is above `least`. Skipping the other blocks makes greedy search 4 %
 * faster. */
static bool any_above(const real *z, real least)
{
    int above = 0;
#pragma omp simd reduction(| : above) simdlen(16)
    for (int c = 0; c < BLOCK; c++) above |= z[c] > least;
    return above;
}

int choices_keep(Best *token, int most, const real *z, int C, real least)
{
    int count = 0;
    for (int first = 0; first < C; first += BLOCK) {
        int end = first + at_most(C - first, BLOCK);
        if (end - first == BLOCK && !any_above(z + first, least)) continue;
        for (int c = first; c < end; c++) {
            if (!(z[c] > least)) continue;
            best_add(token, &count, most, c, z[c]);
            if (count == most) least = (real)token[most - 1].value;
        }
    }
    return count;
}

int choices_find(Best *token, int most, double least, double *normaliser, Predictor *predictor,
                 const Prefix *prefix, int r)
{
    const SearchBatch *batch = predictor->batch;
    const SearchTask *task = &batch->task[prefix->sentence];
    int C = ensemble_tokens(batch->ensemble);
    bool needed = normaliser || batch->ensemble->count > 1;
    double n = 0;
    real *z = predictor_row(predictor, r, needed ? &n : NULL);
    if (needed ? !isfinite(n) : !all_finite(z, C)) return -1;
    if (normaliser) *normaliser = n;
    int forced = constraints_forced(task, predictor->cache->step);
    if (forced != NOTHING_FORCED) {
        *token = (Best){forced, z[forced]};
        return 1;
    }
    constraints_apply(z, predictor, r, task);
    double bound = least + n;
    return choices_keep(token, most, z, C, (real)(bound - 1e-6 * fabs(bound)));  // rounded down
}
