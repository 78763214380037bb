/* tree.c -- the fixed order of a sum over accumulators on several ranks; see tree.h. */
#include "training/tree.h"

#include "base/real.h"

int tree_first(Tree tree, int rank)
{
    return (int)((long long)tree.accumulators * rank / tree.ranks);
}

/* The largest r with A·r/R < a + 1, which is tree_first(r) <= a. */
int tree_rank(Tree tree, int a)
{
    return (int)((((long long)a + 1) * tree.ranks - 1) / tree.accumulators);
}

/* The rank that holds all leaves first .. end-1; -1 if they lie on several. */
static int holder(Tree tree, int first, int end)
{
    int rank = tree_rank(tree, first);
    return tree_rank(tree, end - 1) == rank ? rank : -1;
}

int tree_pairs(TreePair *pairs, Tree tree, int used, int rank, bool owner)
{
    int count = 0;
    for (int step = 1; step < used; step *= 2)
        for (int a = 0; a + step < used; a += 2 * step) {
            int at = holder(tree, a, at_most(a + 2 * step, used));
            if (at == rank || (at < 0 && owner)) pairs[count++] = (TreePair){a, a + step};
        }
    return count;
}

/* Leaf a > 0 is taken up once: at the step that is its lowest bit, by a - step. It stays a root
 * if that sum is not a local one. */
static bool is_root(Tree tree, int used, int a)
{
    int step = a & -a;
    return a == 0 || holder(tree, a - step, at_most(a + step, used)) < 0;
}

/* With fewer leaves in use a local sum stays local, so no leaf becomes a root. */
int tree_places(int *place, Tree tree, int used)
{
    int most = 0;
    for (int a = 0; a < tree.accumulators; a++) place[a] = -1;
    for (int rank = 0; rank < tree.ranks; rank++) {
        int roots = 0, end = at_most(tree_first(tree, rank + 1), used);
        for (int a = tree_first(tree, rank); a < end; a++)
            if (is_root(tree, used, a)) place[a] = roots++;
        if (roots > most) most = roots;
    }
    return most;
}
