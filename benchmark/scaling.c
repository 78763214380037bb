/* scaling.c -- the tiny preset with one number changed; see scaling.h. */
#include "benchmark/scaling.h"

#include "benchmark/child.h"
#include "benchmark/synthetic.h"

enum { VOCABULARY = 10000, UPDATE = 8000, SEED = 1, BATCHES = 8, SHORTEST_PAIR = 20 };

const char *const scale_titles[SCALES] = {"sentence length", "vocabulary", "update size",
                                          "threads", "depth"};
const char *const scale_keys[SCALES] = {"sentence_length", "vocabulary", "update_tokens",
                                        "threads", "layers"};
const char *const scale_units[SCALES] = {"tokens a side", "tokens", "tokens", "threads",
                                         "layers a stack"};

/* Ended by 0. The threads are 1, 2, 4, … and all. */
static const int VALUES[SCALES][MOST_POINTS] = {
    [SCALE_LENGTH] = {8, 16, 32, 64, 128, 256, 512},
    [SCALE_VOCABULARY] = {1000, 2000, 4000, 8000, 16000, 32000},
    [SCALE_UPDATE] = {500, 1000, 2000, 4000, 8000, 16000, 32000},
    [SCALE_DEPTH] = {1, 2, 4, 6, 8, 12},
};

int scaling_values(Scale scale, int threads, int value[MOST_POINTS])
{
    int count = 0;
    if (scale != SCALE_THREADS) {
        for (; count < MOST_POINTS && VALUES[scale][count]; count++)
            value[count] = VALUES[scale][count];
        return count;
    }
    for (int t = 1; t < threads && count < MOST_POINTS - 1; t *= 2) value[count++] = t;
    value[count++] = threads;
    return count;
}

bool scaling_point(TrainingResult *result, Scale scale, int value, int threads, double seconds,
                   Error *error)
{
    int length = scale == SCALE_LENGTH ? value : 0;
    int vocabulary = scale == SCALE_VOCABULARY ? value : VOCABULARY;
    int update = scale == SCALE_UPDATE ? value : UPDATE;
    int used = scale == SCALE_THREADS ? value : threads;
    size_t pairs = 1 + (size_t)(BATCHES * update / (length ? 2 * length : SHORTEST_PAIR));
    Corpus corpus;
    if (!(length ? synthetic_uniform(&corpus, pairs, length, vocabulary, SEED, error)
                 : synthetic_corpus(&corpus, pairs, vocabulary, SEED, error)))
        return false;

    TrainingCase plan;
    bool good = training_case(&plan, "tiny", &corpus, update, used, error);
    plan.seconds = seconds;
    if (length > plan.model.max_length) plan.model.max_length = length;
    if (scale == SCALE_DEPTH) plan.model.encoder_layers = plan.model.decoder_layers = value;
    good = good && child_run(training_work, &plan, result, sizeof *result, error);
    corpus_free(&corpus);
    return good;
}
