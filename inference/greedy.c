/* greedy.c -- one token a step, for all hypotheses of a batch together.
 *
 *     y_t = argmax_c p(c | y_<t, x)          until y_t = </s>, or the limit forces it
 *
 * or y_t ~ p(· | y_<t, x) (sampling.h). If several tokens are equally probable, the first is
 * taken. A hypothesis that ends leaves the batch. The argmax of the logits is that of the
 * probabilities, so the softmax is only computed if log p is needed. */
#include "inference/greedy.h"

#include <math.h>

#include "inference/constraints.h"

void greedy_layout(Greedy *greedy, Arena *arena, const SearchBatch *batch)
{
    size_t rows = (size_t)batch->source.sentences * (size_t)search_rows(batch->config);
    greedy->batch = batch;
    greedy->live = ARENA_TAKE(arena, Prefix, rows);
    if (batch->config->sample)
        sampling_layout(&greedy->sampling, arena, ensemble_tokens(batch->ensemble));
    predictor_layout(&greedy->predictor, arena, batch);
}

/* Whether all of z [C] are finite. */
static bool all_finite(const real *z, int C)
{
    int infinite = 0;
#pragma omp simd reduction(| : infinite) simdlen(16)
    for (int c = 0; c < C; c++) infinite |= !(z[c] - z[c] == 0);
    return !infinite;
}

/* The index of the largest of z [C]: the first one if several are equal. */
static int index_of_largest(const real *z, int C)
{
    enum { BLOCK = 64 };
    real largest = search_maximum(z, C);
    for (int first = 0; first < C; first += BLOCK) {
        int end = C - first < BLOCK ? C : first + BLOCK, there = 0;
#pragma omp simd reduction(| : there) simdlen(16)
        for (int c = first; c < end; c++) there |= z[c] == largest;
        for (int c = first; there && c < end; c++)
            if (z[c] == largest) return c;
    }
    return 0;
}

/* The next token of row r, and its ln p in *log_probability; -1: not finite. */
static int choose(Greedy *greedy, int r, double *log_probability)
{
    const SearchConfig *config = greedy->batch->config;
    const Ensemble *ensemble = greedy->batch->ensemble;
    const Prefix *prefix = &greedy->live[r];
    const SearchTask *task = &greedy->batch->task[prefix->sentence];
    int C = ensemble_tokens(ensemble), step = greedy->predictor.cache->step;
    bool normal = !config->no_scores || ensemble->count > 1 || config->repetition_penalty > 1;
    double normaliser = 0;

    real *z = predictor_row(&greedy->predictor, r, normal ? &normaliser : NULL);
    if (normal ? !isfinite(normaliser) : !all_finite(z, C)) return -1;
    int token = constraints_forced(task, step);
    if (token == NOTHING_FORCED) {
        constraints_apply(z, normaliser, &greedy->predictor, r, task);
        token = config->sample
                    ? sampling_draw(
                          &greedy->sampling, z, C,
                          sampling_rng(config->seed, task->line, prefix->search, step), config)
                    : index_of_largest(z, C);
    }
    *log_probability = config->no_scores ? NAN : (double)z[token] - normaliser;
    return token;
}

/* `prefix` has ended. */
static void report(const Greedy *greedy, const Prefix *prefix)
{
    Translation *found = greedy->batch->found[prefix->sentence];
    Hypothesis *hypothesis = &found->hypothesis[prefix->search];
    double log_probability = prefix->log_probability;
    int *id = hypothesis->id;
    int length = cache_tokens(id, greedy->predictor.cache, prefix->parent);
    id[length++] = ID_END;
    *hypothesis =
        (Hypothesis){id, length, search_score(greedy->batch->config, log_probability, length),
                     log_probability};
    found->count = search_rows(greedy->batch->config);
}

bool greedy_search(Greedy *greedy)
{
    int each = search_rows(greedy->batch->config), live = 0;
    for (int s = 0; s < greedy->batch->source.sentences; s++)
        for (int number = 0; number < each; number++)
            greedy->live[live++] =
                (Prefix){s, NO_NODE, ensemble_tokens(greedy->batch->ensemble), number, 0};
    predictor_encode(&greedy->predictor);
    while (live) {
        int first = predictor_step(&greedy->predictor, greedy->live, live), rows = live;
        live = 0;
        for (int r = 0; r < rows; r++) {
            double log_probability;
            int token = choose(greedy, r, &log_probability);
            if (token < 0) return false;
            Prefix prefix = greedy->live[r];
            prefix = (Prefix){prefix.sentence, first + r, token, prefix.search,
                              prefix.log_probability + log_probability};
            if (token == ID_END) report(greedy, &prefix);
            else greedy->live[live++] = prefix;
        }
    }
    return true;
}
