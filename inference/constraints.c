/* constraints.c -- see constraints.h. All loops are over the hypothesis, some tens of tokens,
 * and change only a few of the scores of the vocabulary. */
#include "inference/constraints.h"

#include <math.h>
#include <string.h>

#include "base/packed.h"

int constraints_forced(const SearchTask *task, int step)
{
    if (step <= task->prefix_length) return task->prefix[step - 1];
    return step < task->limit ? NOTHING_FORCED : ID_END;
}

/* Forbids each token that followed an earlier occurrence of the last n-1 tokens. */
static void forbid_ngrams(real *z, const int *written, int count, int n)
{
    const int *last = written + count - (n - 1);
    for (int end = n - 1; end < count; end++)
        if (!memcmp(written + end - (n - 1), last, (size_t)(n - 1) * sizeof *written))
            z[written[end]] = -INFINITY;
}

/* Whether the hypothesis has all <unk> that it may have. */
static bool unknowns_used(const int *written, int count, const SearchTask *task)
{
    int used = 0;
    for (int i = 0; i < count && used < task->unknowns; i++) used += written[i] == ID_UNKNOWN;
    return used == task->unknowns;
}

void constraints_apply(real *z, const Predictor *predictor, int r, const SearchTask *task)
{
    const SearchConfig *config = predictor->batch->config;
    const Cache *tree = predictor->cache;
    int *written = predictor->written;  // the tokens of the hypothesis, if they are needed
    int count = tree->step - 1, n = config->no_repeat_ngram;
    real end = z[ID_END];
    if (n > 0 || (task->unknowns && !config->unknown))
        cache_tokens(written, tree, tree->nodes - predictor->rows + r);
    if (!config->unknown && unknowns_used(written, count, task)) z[ID_UNKNOWN] = -INFINITY;
    if (n > 0 && count >= n) forbid_ngrams(z, written, count, n);
    if (count >= config->min_length) return;
    z[ID_END] = -INFINITY;
    if (search_maximum(z, ensemble_tokens(predictor->batch->ensemble)) == -INFINITY)
        z[ID_END] = end;
}
