/* scaling.c -- the tiny preset with one number changed; see scaling.h. */
#include "benchmark/scaling.h"

#include "benchmark/child.h"
#include "benchmark/synthetic.h"

enum { VOCABULARY = 10000, UPDATE = 8192, SEED = 1, BATCHES = 8, SHORTEST_PAIR = 20 };

const char *const scale_titles[SCALES] = {"Sentence length, tokens a side",
                                          "Vocabulary, tokens", "Update size, tokens",
                                          "Threads", "Depth, layers a stack"};

/* Ended by 0. The threads are 1, 2, 4, … and all. */
static const int VALUES[SCALES][MOST_POINTS] = {
    [SCALE_LENGTH] = {8, 16, 32, 64, 128, 256, 512, 1024, 2048},
    [SCALE_VOCABULARY] = {1000, 2000, 4000, 8000, 16000, 32000},
    [SCALE_UPDATE] = {500, 1000, 2000, 4000, 8000, 16000, 32000},
    [SCALE_DEPTH] = {1, 2, 4, 6, 8, 12},
};

static int find_values(int value[MOST_POINTS], Scale scale, int threads)
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

void scaling_plan(Scaling *scaling, int threads)
{
    *scaling = (Scaling){.threads = threads};
    for (int s = 0; s < SCALES; s++) {
        int value[MOST_POINTS], count = find_values(value, (Scale)s, threads);
        scaling->count[s] = count;
        for (int i = 0; i < count; i++) {
            ScalePoint *point = &scaling->point[s][i];
            point->value = value[i];
            point->threads = s == SCALE_THREADS ? value[i] : threads;
        }
    }
}

double scaling_peak(const Scaling *scaling)
{
    double peak[SCALES * MOST_POINTS];
    int count = 0;
    for (int s = 0; s < SCALES; s++)
        for (int i = 0; i < scaling->count[s]; i++) {
            const ScalePoint *point = &scaling->point[s][i];
            peak[count++] = point->result.rate.peak / point->threads;
        }
    return rate_median(peak, count);
}

double scaling_speed(const Scaling *scaling, const ScalePoint *point)
{
    const TrainingResult *r = &point->result;
    return r->tokens_per_second * point->threads * scaling_peak(scaling) / r->rate.peak;
}

bool scaling_point(ScalePoint *point, Scale scale, double seconds, Error *error)
{
    int value = point->value;
    int length = scale == SCALE_LENGTH ? value : 0;
    int vocabulary = scale == SCALE_VOCABULARY ? value : VOCABULARY;
    int update = scale == SCALE_UPDATE ? value : UPDATE;
    size_t pairs = 1 + (size_t)(BATCHES * update / (length ? 2 * length : SHORTEST_PAIR));
    Corpus corpus;
    if (!synthetic_corpus(&corpus, pairs, length, vocabulary, SEED, error)) return false;

    TrainingCase plan;
    bool good = training_case(&plan, "tiny", &corpus, update, point->threads, error);
    plan.seconds = seconds;
    if (length > plan.model.max_length) plan.model.max_length = length;
    if (scale == SCALE_DEPTH) plan.model.encoder_layers = plan.model.decoder_layers = value;
    good = good && child_run(training_work, &plan, &point->result, sizeof point->result, error);
    corpus_free(&corpus);
    return good;
}
