/* scaling.h -- how the cost of training grows: one number of the tiny preset is changed at a
 * time.
 *
 * The others stay as they are: synthetic sentences with Multi30k's lengths, 10,000 tokens of
 * vocabulary, 8,192 tokens an update, 4 + 4 layers, all threads. */
#pragma once

#include "benchmark/training.h"

typedef enum {
    SCALE_LENGTH,
    SCALE_VOCABULARY,
    SCALE_UPDATE,
    SCALE_THREADS,
    SCALE_DEPTH,
    SCALES
} Scale;

enum { MOST_POINTS = 9 };

typedef struct ScalePoint {
    int threads;
    int value;  // tokens a sentence and side, of the vocabulary, an update; threads; layers a stack
    TrainingResult result;
} ScalePoint;

typedef struct Scaling {
    int threads;
    ScalePoint point[SCALES][MOST_POINTS];
    int count[SCALES];
} Scaling;

extern const char *const scale_titles[SCALES];  // "Sentence length, tokens a side"

/* Sets the points to measure. All but those of SCALE_THREADS use this number of threads. */
void scaling_plan(Scaling *scaling, int threads);

/* Tokens a second of a point if sgemm had been as fast as in the median of all points. Without
 * that correction, points cannot be compared on a machine that does other work too.
 *     tokens/s · (threads · median(peak / threads)) / peak */
double scaling_speed(const Scaling *scaling, const ScalePoint *point);

/* The median itself, FLOP/s a thread. */
double scaling_peak(const Scaling *scaling);

/* Measures one point in a process of its own, for about this time. */
bool scaling_point(ScalePoint *point, Scale scale, double seconds, Error *error);
