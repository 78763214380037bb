/* constraints.c -- see constraints.h. All loops are over what was written, some tens of tokens; the
 * scores of a vocabulary are touched in the places that change only. */
#include "inference/constraints.h"

#include <math.h>
#include <string.h>

#include "base/packed.h"

int constraints_forced(const SearchTask *task, int step)
{
    if (step <= task->prefix_length) return task->prefix[step - 1];
    return step < task->limit ? NOTHING_FORCED : ID_END;
}

bool constraints_look_back(const SearchTask *task, const SearchConfig *config)
{
    return config->no_repeat_ngram > 0 || config->repetition_penalty > 1 ||
           (task->unknowns && !config->unknown);
}

/* θ once for each token, however often it was written. */
static void make_dearer(real *z, double normaliser, const int *written, int count, double theta)
{
    for (int i = 0; i < count; i++) {
        int before = 0;
        while (written[before] != written[i]) before++;
        real *own = &z[written[i]];
        if (before == i) *own = (real)(normaliser + theta * ((double)*own - normaliser));
    }
}

/* Wherever the last n-1 tokens stood before, what followed them there may not follow now. */
static void forbid_ngrams(real *z, const int *written, int count, int n)
{
    const int *last = written + count - (n - 1);
    for (int end = n - 1; end < count; end++)
        if (!memcmp(written + end - (n - 1), last, (size_t)(n - 1) * sizeof *written))
            z[written[end]] = -INFINITY;
}

/* Whether <unk> has come as often as it may. */
static bool unknowns_used(const int *written, int count, const SearchTask *task)
{
    int used = 0;
    for (int i = 0; i < count && used < task->unknowns; i++) used += written[i] == ID_UNKNOWN;
    return used == task->unknowns;
}

void constraints_apply(real *z, int C, double normaliser, const int *written, int step,
                       const SearchTask *task, const SearchConfig *config)
{
    int count = step - 1, n = config->no_repeat_ngram;
    real end = z[ID_END];
    if (config->repetition_penalty > 1)
        make_dearer(z, normaliser, written, count, config->repetition_penalty);
    if (!config->unknown && unknowns_used(written, count, task)) z[ID_UNKNOWN] = -INFINITY;
    if (n > 0 && count >= n) forbid_ngrams(z, written, count, n);
    if (count >= config->min_length) return;
    z[ID_END] = -INFINITY;
    if (search_maximum(z, C) == -INFINITY) z[ID_END] = end;
}
