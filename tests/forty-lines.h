/* forty-lines.h -- forty sentences, a model to translate them with, and ways to search, for tests. */
#ifndef TESTS_FORTY_LINES_H
#define TESTS_FORTY_LINES_H

#include <math.h>

#include "inference/scoring.h"
#include "inference/translator.h"
#include "tests/searches.h"

enum { V = 60, MOST_LENGTH = 48, S = 40 };

static Transformer model;
static Ensemble alone;
static Packed source;
static Workers *workers;
static Error error;

static inline int setup(void **state)
{
    (void)state;
    model = random_model(V, MOST_LENGTH, 71);
    model.weights.logits_bias[ID_END] += 1;
    alone = ensemble_of(&model);
    source = random_sentences(S, 14, V, 72);
    return (workers = workers_start(2, &error)) ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)state;
    workers_stop(workers);
    transformer_free(&model);
    free_sentences(source);
    return 0;
}

static inline void run(Translations *out, const SearchConfig *config, const Packed *prefix)
{
    TranslatorInput input = {.source = source, .prefix = prefix, .line = 1};
    if (!translator_run(out, &alone, &input, config, workers, NULL, &error))
        fail_msg("%s", error.text);
}

/* Greedy search, beam search, and samples. */
static inline SearchConfig way(int which)
{
    SearchConfig config = search_default;
    if (which == 0) config.beam = 1;
    if (which == 1) config.n_best = 3;
    if (which == 2) config.sample = true, config.n_best = 3, config.top_k = 4;
    return config;
}

/* log p of what was found, as scoring has it. */
static inline void check_scores(const Translations *out)
{
    int id[MOST_LENGTH * S], start[S + 1] = {0};
    double each[MOST_LENGTH * S];
    for (int s = 0; s < S; s++) {
        const Hypothesis *best = out->sentence[s].hypothesis;
        memcpy(id + start[s], best->id, (size_t)best->length * sizeof *id);
        start[s + 1] = start[s] + best->length;
    }
    Packed target = {S, start[S], id, start};
    assert_true(scoring_run(each, &alone, &source, &target, workers, NULL, &error));
    for (int s = 0; s < S; s++) {
        double sum = 0;
        for (int t = start[s]; t < start[s + 1]; t++) sum += each[t];
        assert_true(fabs(sum - out->sentence[s].hypothesis->log_probability) < 1e-3);
    }
}

static inline void refuse(SearchConfig config, const Packed *prefix, const char *says)
{
    TranslatorInput input = {.source = source, .prefix = prefix};
    Translations out;
    assert_false(translator_run(&out, &alone, &input, &config, workers, NULL, &error));
    if (!strstr(error.text, says)) fail_msg("said: %s", error.text);
}

#endif
