/* greedy.c -- the most probable token, step after step.
 *
 *     y_t = argmax_c p(c | y_<t, x)          until y_t = </s>, or the limit leaves one place
 *
 * All sentences of a batch go through a step together; one that has ended leaves its row to the
 * others. The first of equally probable tokens is taken. */
#include "inference/greedy.h"

#include <math.h>

void greedy_layout(Greedy *greedy, Arena *arena, const Transformer *model, const Packed *source,
                   const SearchConfig *config)
{
    int S = source->sentences, V = model->config.vocab, longest = 0, capacity = 0;
    greedy->config = config;
    greedy->source = source;
    greedy->limit = ARENA_TAKE(arena, int, (size_t)S);
    greedy->live = ARENA_TAKE(arena, Prefix, (size_t)S);
    greedy->log_probability = ARENA_TAKE(arena, double, (size_t)S);
    greedy->logits = logits_layout(arena, S, V);
    for (int s = 0; s < S; s++) {
        int limit =
            search_limit(config, &model->config, source->start[s + 1] - source->start[s]);
        if (greedy->limit) greedy->limit[s] = limit;
        if (limit > longest) longest = limit;
        capacity += limit;
    }
    cache_layout(&greedy->cache, arena, model, source, S, longest, capacity);
}

/* The most probable of z [C] that may be produced: of blocks whose largest is larger than all
 * before, the first that is. */
static int choose(const real *z, int C, bool unknown)
{
    enum { BLOCK = 128 };
    int best = 0;
    for (int first = 0; first < C; first += BLOCK) {
        int end = C - first < BLOCK ? C : first + BLOCK;
        real largest = z[first];
#pragma omp simd reduction(max : largest) simdlen(16)
        for (int c = first; c < end; c++) largest = z[c] > largest ? z[c] : largest;
        if (!(largest > z[best])) continue;
        for (int c = first; c < end; c++)
            if (z[c] > z[best] && (c != ID_UNKNOWN || unknown)) best = c;
    }
    return best;
}

bool greedy_search(Translation *const *found, Greedy *greedy, const Transformer *model)
{
    int V = model->config.vocab, D = model->config.d_model, live = greedy->source->sentences;
    Cache *cache = &greedy->cache;
    for (int s = 0; s < live; s++) {
        greedy->live[s] = (Prefix){s, NO_NODE, V - 1};
        greedy->log_probability[s] = 0;
    }
    cache_encode(cache, model);
    while (live) {
        const real *X = cache_step(cache, model, greedy->live, live);
        int first = cache->nodes - live, rows = live;
        live = 0;
        for (int r = 0; r < rows; r++) {
            real *z = logits_row(greedy->logits, r, X, &model->weights, rows, V, D);
            double normaliser = search_normaliser(z, V - 1);
            if (!isfinite(normaliser)) return false;

            int s = greedy->live[r].sentence;
            int token = cache->step < greedy->limit[s]
                            ? choose(z, V - 1, greedy->config->unknown)
                            : ID_END;
            double log_probability = greedy->log_probability[r] + (z[token] - normaliser);
            if (token != ID_END) {
                greedy->live[live] = (Prefix){s, first + r, token};
                greedy->log_probability[live++] = log_probability;
                continue;
            }
            Hypothesis *best = found[s]->hypothesis;
            int length = cache_tokens(best->id, cache, first + r);
            best->id[length++] = ID_END;
            best->length = length;
            best->log_probability = log_probability;
            best->score = search_score(greedy->config, log_probability, length);
            found[s]->count = 1;
        }
    }
    return true;
}
