/* scaling.h -- how the cost of training grows: one number of the tiny preset is changed at a time.
 *
 * The others stay as they are: synthetic sentences with Multi30k's lengths, 10,000 tokens of
 * vocabulary, 8,000 tokens an update, 4 + 4 layers, all threads. */
#ifndef BENCHMARK_SCALING_H
#define BENCHMARK_SCALING_H

#include "benchmark/training.h"

typedef enum {
    SCALE_LENGTH,
    SCALE_VOCABULARY,
    SCALE_UPDATE,
    SCALE_THREADS,
    SCALE_DEPTH,
    SCALES
} Scale;

enum { MOST_POINTS = 8 };

typedef struct ScalePoint {
    int value;  // tokens a sentence and side, of the vocabulary, an update; threads; layers a stack
    TrainingResult result;
} ScalePoint;

typedef struct Scaling {
    int threads;
    ScalePoint point[SCALES][MOST_POINTS];
    int count[SCALES];
} Scaling;

/* In tables and pictures "sentence length", in JSON "sentence_length". */
extern const char *const scale_titles[SCALES];
extern const char *const scale_keys[SCALES];
extern const char *const scale_units[SCALES];  // "tokens a side"

/* The values to measure, ascending: value [MOST_POINTS]; returns how many. */
int scaling_values(Scale scale, int threads, int value[MOST_POINTS]);

/* Measures one point in a process of its own. */
bool scaling_point(TrainingResult *result, Scale scale, int value, int threads, double seconds,
                   Error *error);

#endif
