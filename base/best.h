/* best.h -- the largest of many values. */
#pragma once

typedef struct Best {
    int id;
    double value;
} Best;

/* best [*count]: the largest values so far, the largest first and of equal ones the earliest. Adds
 * one, if it is among the `most` largest. */
static inline void best_add(Best *best, int *count, int most, int id, double value)
{
    int at = *count;
    while (at > 0 && best[at - 1].value < value) at--;
    if (at == most) return;
    if (*count < most) ++*count;
    for (int k = *count - 1; k > at; k--) best[k] = best[k - 1];
    best[at] = (Best){id, value};
}
