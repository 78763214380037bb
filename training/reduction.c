/* reduction.c -- the fixed order of a sum over accumulators on several ranks; see
 * reduction.h. */
#include "training/reduction.h"

#include "base/real.h"

int reduction_first(Reduction reduction, int rank)
{
    return (int)((long long)reduction.accumulators * rank / reduction.ranks);
}

/* The largest r with A·r/R < a + 1, which is reduction_first(r) <= a. */
int reduction_rank(Reduction reduction, int a)
{
    return (int)((((long long)a + 1) * reduction.ranks - 1) / reduction.accumulators);
}

/* The rank that holds all leaves first .. end-1; -1 if they lie on several. */
static int holder(Reduction reduction, int first, int end)
{
    int rank = reduction_rank(reduction, first);
    return reduction_rank(reduction, end - 1) == rank ? rank : -1;
}

int reduction_pairs(ReductionPair *pairs, Reduction reduction, int used, int rank, bool owner)
{
    int count = 0;
    for (int step = 1; step < used; step *= 2)
        for (int a = 0; a + step < used; a += 2 * step) {
            int at = holder(reduction, a, at_most(a + 2 * step, used));
            if (at == rank || (at < 0 && owner)) pairs[count++] = (ReductionPair){a, a + step};
        }
    return count;
}

/* Leaf a > 0 is taken up once: at the step that is its lowest bit, by a - step. It stays a root
 * if that sum is not a local one. */
static bool is_root(Reduction reduction, int used, int a)
{
    int step = a & -a;
    return a == 0 || holder(reduction, a - step, at_most(a + step, used)) < 0;
}

/* With fewer leaves in use a local sum stays local, so no leaf becomes a root. */
int reduction_places(int *place, Reduction reduction, int used)
{
    int most = 0;
    for (int a = 0; a < reduction.accumulators; a++) place[a] = -1;
    for (int rank = 0; rank < reduction.ranks; rank++) {
        int roots = 0, end = at_most(reduction_first(reduction, rank + 1), used);
        for (int a = reduction_first(reduction, rank); a < end; a++)
            if (is_root(reduction, used, a)) place[a] = roots++;
        if (roots > most) most = roots;
    }
    return most;
}
