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

/* A token of row r drawn from the model's distribution; -1: not finite. */
static int draw(Greedy *greedy, int r, double *log_probability)
{
    const SearchConfig *config = greedy->batch->config;
    const Prefix *prefix = &greedy->live[r];
    const SearchTask *task = &greedy->batch->task[prefix->sentence];
    int step = greedy->predictor.cache->step, token = constraints_forced(task, step);
    double normaliser;
    real *z = predictor_row(&greedy->predictor, r, &normaliser);
    if (!isfinite(normaliser)) return -1;
    if (token == NOTHING_FORCED) {
        constraints_apply(z, &greedy->predictor, r, task);
        token =
            sampling_draw(&greedy->sampling, z, ensemble_tokens(greedy->batch->ensemble),
                          sampling_rng(config->seed, task->line, prefix->search, step), config);
    }
    *log_probability = config->no_scores ? NAN : (double)z[token] - normaliser;
    return token;
}

/* The next token of row r, and its ln p in *log_probability; -1: not finite. */
static int choose(Greedy *greedy, int r, double *log_probability)
{
    const SearchConfig *config = greedy->batch->config;
    if (config->sample) return draw(greedy, r, log_probability);
    double normaliser = NAN;
    Best best = {ID_END, 0};
    if (choices_find(&best, 1, -INFINITY, config->no_scores ? NULL : &normaliser,
                     &greedy->predictor, &greedy->live[r], r) < 0)
        return -1;
    *log_probability = best.value - normaliser;
    return best.id;
}

/* `prefix` has ended. */
static void report(const Greedy *greedy, const Prefix *prefix)
{
    Translation *found = greedy->batch->found[prefix->sentence];
    Hypothesis *hypothesis = &found->hypothesis[prefix->search];
    hypothesis->log_probability = prefix->log_probability;
    hypothesis->length =
        cache_hypothesis(hypothesis->id, hypothesis->each, greedy->predictor.cache,
                         prefix->parent, prefix->log_probability);
    hypothesis->score =
        search_score(greedy->batch->config, prefix->log_probability, hypothesis->length);
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
