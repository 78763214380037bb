/* greedy.c -- a token a step, for all hypotheses of a batch together.
 *
 *     y_t = argmax_c p(c | y_<t, x)          until y_t = </s>, or the limit leaves one place
 *
 * or y_t ~ p(· | y_<t, x) (sampling.h). One that has ended leaves its row to the others. The first
 * of equally probable tokens is taken. The argmax of the scores is that of the probabilities: where
 * nobody asks for log p, no exponential of the vocabulary is computed. */
#include "inference/greedy.h"

#include <math.h>

#include "inference/constraints.h"

void greedy_layout(Greedy *greedy, Arena *arena, const Ensemble *ensemble, const Packed *source,
                   const SearchTask *task, const SearchConfig *config)
{
    size_t rows = (size_t)source->sentences * (size_t)search_rows(config);
    greedy->config = config;
    greedy->source = source;
    greedy->task = task;
    greedy->live = ARENA_TAKE(arena, Prefix, rows);
    greedy->walk = ARENA_TAKE(arena, Walk, rows);
    if (config->sample)
        sampling_layout(&greedy->sampling, arena, ensemble->model[0]->config.vocab - 1);
    predictor_layout(&greedy->predictor, arena, ensemble, source, task, search_rows(config));
}

/* The next token of row r, and its ln p in *log_probability; -1: not finite. */
static int choose(Greedy *greedy, int r, double *log_probability)
{
    const SearchConfig *config = greedy->config;
    const Ensemble *ensemble = greedy->predictor.ensemble;
    const Walk *walk = &greedy->walk[r];
    const SearchTask *task = &greedy->task[walk->sentence];
    int C = ensemble->model[0]->config.vocab - 1;
    int step = predictor_tree(&greedy->predictor)->step;
    bool normal = !config->no_scores || ensemble->count > 1 || config->repetition_penalty > 1;
    double normaliser = 0;

    real *z = predictor_row(&greedy->predictor, r, normal ? &normaliser : NULL);
    if (normal ? !isfinite(normaliser) : !search_finite(z, C)) return -1;
    int token = constraints_forced(task, step);
    if (token == NOTHING_FORCED) {
        const int *written = constraints_look_back(task, config)
                                 ? predictor_written(&greedy->predictor, r)
                                 : NULL;
        constraints_apply(z, C, normaliser, written, step, task, config);
        token = config->sample
                    ? sampling_draw(&greedy->sampling, z, C,
                                    sampling_rng(config->seed, task->line, walk->number, step),
                                    config)
                    : search_largest(z, C);
    }
    *log_probability = config->no_scores ? NAN : (double)z[token] - normaliser;
    return token;
}

static void report(Translation *found, const Greedy *greedy, const Walk *walk, int node)
{
    Hypothesis *hypothesis = &found->hypothesis[walk->number];
    int length = cache_tokens(hypothesis->id, predictor_tree(&greedy->predictor), node);
    hypothesis->id[length++] = ID_END;
    hypothesis->length = length;
    hypothesis->log_probability = walk->log_probability;
    hypothesis->score = search_score(greedy->config, walk->log_probability, length);
    found->count = search_rows(greedy->config);
}

bool greedy_search(Translation *const *found, Greedy *greedy)
{
    int pad = greedy->predictor.ensemble->model[0]->config.vocab - 1, live = 0;
    for (int s = 0; s < greedy->source->sentences; s++)
        for (int number = 0; number < search_rows(greedy->config); number++, live++) {
            greedy->live[live] = (Prefix){s, NO_NODE, pad};
            greedy->walk[live] = (Walk){s, number, 0};
        }
    predictor_encode(&greedy->predictor);
    while (live) {
        predictor_step(&greedy->predictor, greedy->live, live);
        int first = predictor_tree(&greedy->predictor)->nodes - live, rows = live;
        live = 0;
        for (int r = 0; r < rows; r++) {
            double log_probability;
            int token = choose(greedy, r, &log_probability);
            if (token < 0) return false;
            Walk walk = greedy->walk[r];
            walk.log_probability += log_probability;
            if (token == ID_END) {
                report(found[walk.sentence], greedy, &walk, first + r);
                continue;
            }
            greedy->live[live] = (Prefix){walk.sentence, first + r, token};
            greedy->walk[live++] = walk;
        }
    }
    return true;
}
