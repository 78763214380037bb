/* choices.c -- see choices.h. */
#include "inference/choices.h"

#include "base/packed.h"
#include "kernels/vecexp.h"

/* Whether all of z [C] are finite. */
static bool all_finite(const real *z, int C)
{
    int infinite = 0;
#pragma omp simd reduction(| : infinite) simdlen(16)
    for (int c = 0; c < C; c++) infinite |= !(z[c] - z[c] == 0);
    return !infinite;
}

enum { BLOCK = 64, NOTHING_FORCED = -1 };

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

/* ---- constraints: all loops are over the hypothesis, some tens of tokens ---- */

/* Forbids each token that followed an earlier occurrence of the last n-1 tokens. */
static void forbid_ngrams(const Scores *scores, const int *written, int count, int n)
{
    const int *last = written + count - (n - 1);
    for (int end = n - 1; end < count; end++)
        if (!memcmp(written + end - (n - 1), last, (size_t)(n - 1) * sizeof *written))
            scores->z[scores_place(scores, written[end])] = -INFINITY;
}

/* Whether the hypothesis has all <unk> that it may have. */
static bool unknowns_used(const int *written, int count, const SearchTask *task)
{
    int used = 0;
    for (int i = 0; i < count && used < task->unknowns; i++) used += written[i] == ID_UNKNOWN;
    return used == task->unknowns;
}

int choices_placeholders(int *left, const SearchTask *task, const int *written, int count)
{
    int sum = 0;
    memcpy(left, task->each, sizeof task->each);
    for (int i = 0; task->placeholder && i < count; i++) {
        int which = written[i] - task->placeholder;
        if (which >= 0 && which < PLACEHOLDERS) left[which]--;
    }
    for (int i = 0; i < PLACEHOLDERS; i++) sum += left[i] > 0 ? left[i] : 0;
    return sum;
}

/* z, own [PLACEHOLDERS]: the placeholders' scores, now and before any was forbidden */
static void forbid_placeholders(const Scores *scores, real *z, const real *own,
                                const int *written, int count, const SearchTask *task)
{
    int left[PLACEHOLDERS];
    int sum = choices_placeholders(left, task, written, task->placeholders ? count : 0);
    if (sum) scores->z[ID_END] = -INFINITY;
    for (int c = 0; sum && count + sum + 1 == task->limit && c < scores->count; c++)
        scores->z[c] = -INFINITY;
    for (int i = 0; i < PLACEHOLDERS; i++) z[i] = left[i] > 0 ? own[i] : -INFINITY;
}

/* How many bytes the character lacks in which the hypothesis ends; 0 or less: it ends in none.
 * *low, *high (=) the first and the last byte that may come next (Unicode 15.0, table 3-7) */
static int missing_bytes(int *low, int *high, const Cache *tree, int node, int first_byte)
{
    *low = CONTINUATION, *high = CONTINUATION + CONTINUATIONS - 1;
    for (int after = 0; after < 3 && node != NO_NODE; after++, node = tree->parent[node]) {
        int byte = tree->token[node] - first_byte;
        if (byte < CONTINUATION || byte > 0xF4) return 0;
        if (byte <= *high) continue;
        if (!after && (byte == 0xE0 || byte == 0xF0)) *low = byte == 0xE0 ? 0xA0 : 0x90;
        if (!after && (byte == 0xED || byte == 0xF4)) *high = byte == 0xED ? 0x9F : 0x8F;
        return 1 + (byte >= 0xE0) + (byte >= 0xF0) - after;
    }
    return 0;
}

/* Forbids bytes that make no UTF-8; returns whether only bytes that go on with a character are left. */
static bool forbid_bytes(const Scores *scores, const Cache *tree, int node,
                         const SearchTask *task)
{
    real *z = scores->z, kept[CONTINUATIONS];
    int low, high, missing = missing_bytes(&low, &high, tree, node, task->first_byte);
    int capacity = task->limit - tree->step - task->placeholders;  // bytes of a character
    if (missing > 0 && missing <= capacity) {
        real *next = z + scores_place(scores, task->first_byte + low);
        size_t size = (size_t)(high - low + 1) * sizeof *z;
        memcpy(kept, next, size);
        for (int c = 0; c < scores->count; c++) z[c] = -INFINITY;
        memcpy(next, kept, size);
        return true;
    }
    int end = capacity < 2 ? 0xC2 : capacity == 2 ? 0xE0 : capacity == 3 ? 0xF0 : 0xF5;
    int first = scores->token ? 0 : task->first_byte + CONTINUATION;
    for (int c = first; c < scores->count; c++) {
        int byte = scores_token(scores, c) - task->first_byte;
        if (byte > 0xFF) break;
        if (byte >= CONTINUATION && (byte < 0xC2 || byte >= end)) z[c] = -INFINITY;
    }
    return false;
}

void choices_forbid(const Scores *scores, const Predictor *predictor, int r,
                    const SearchTask *task)
{
    const SearchConfig *config = predictor->batch->config;
    const Cache *tree = predictor->cache;
    int *written = predictor->written;  // the tokens of the hypothesis, if they are needed
    int count = tree->step - 1, n = config->no_repeat_ngram;
    int node = tree->nodes - predictor->rows + r;
    real *z = scores->z, end = z[ID_END], own[PLACEHOLDERS];
    real *placeholders = task->placeholder ? z + scores_place(scores, task->placeholder) : NULL;
    if (task->first_byte && forbid_bytes(scores, tree, node, task)) return;
    if (placeholders) memcpy(own, placeholders, sizeof own);
    if (n > 0 || task->placeholders || (task->unknowns && !config->unknown))
        cache_tokens(written, tree, node);
    if (!config->unknown && unknowns_used(written, count, task)) z[ID_UNKNOWN] = -INFINITY;
    if (n > 0 && count >= n) forbid_ngrams(scores, written, count, n);
    if (placeholders) forbid_placeholders(scores, placeholders, own, written, count, task);
    if (count >= config->min_length) return;
    z[ID_END] = -INFINITY;
    if (vec_maximum(z, scores->count) == -INFINITY) z[ID_END] = end;
}

/* The token that must come next; NOTHING_FORCED: none. */
static int forced(const SearchTask *task, int step)
{
    if (step <= task->prefix_length) return task->prefix[step - 1];
    return step < task->limit ? NOTHING_FORCED : ID_END;
}

int choices_find(Best *token, int most, double least, double *normaliser, Predictor *predictor,
                 const Prefix *prefix, int r)
{
    const SearchBatch *batch = predictor->batch;
    const SearchConfig *config = batch->config;
    const SearchTask *task = &batch->task[prefix->sentence];
    int step = predictor->cache->step;
    bool needed = normaliser || batch->ensemble->count > 1;
    double n = 0;
    Scores scores = predictor_row(predictor, r, needed ? &n : NULL);
    if (needed ? !isfinite(n) : !all_finite(scores.z, scores.count)) return -1;
    if (normaliser) *normaliser = n;
    int id = forced(task, step);
    if (id == NOTHING_FORCED) {
        choices_forbid(&scores, predictor, r, task);
        double bound = least + n;
        if (predictor->screened) {
            const Screening *screening = batch->ensemble->screening;
            int D = batch->ensemble->model[0]->config.d_model;
            const real *x = predictor->X[0] + (size_t)r * (size_t)D;
            *token = (Best){screening_best(screening, scores.z, x), NAN};
            return token->id >= 0;
        }
        if (!config->sample) {  // rounded down
            int count = choices_keep(token, most, scores.z, scores.count,
                                     (real)(bound - 1e-6 * fabs(bound)));
            for (int i = 0; i < count; i++) token[i].id = scores_token(&scores, token[i].id);
            if (count || least > -INFINITY) return count;
            id = ID_END;  // all are forbidden
        } else
            id = sampling_draw(
                &predictor->sampling, scores.z, scores.count,
                sampling_rng(config->seed, task->line, prefix->search % config->n_best, step),
                config);
    }
    *token = (Best){id, scores.z[scores_place(&scores, id)]};
    return 1;
}
