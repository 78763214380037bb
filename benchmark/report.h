/* report.h -- the results, as tables for people and as JSON for programs. */
#ifndef BENCHMARK_REPORT_H
#define BENCHMARK_REPORT_H

#include "benchmark/training.h"

#include <stdio.h>

typedef struct TrainingRow {
    const char *preset;
    int threads;
    TrainingResult result;
} TrainingRow;

enum { MOST_ROWS = 8 };

typedef struct Report {
    char corpus[512];  // what was trained on, in words
    TrainingRow train[MOST_ROWS];
    int trains;
} Report;

/* One line on the machine, one on the corpus. */
void report_head(const Report *report, FILE *out);

/* Speed, then the time by part. */
void report_training(const Report *report, FILE *out);

/* {"machine":…,"corpus":…,"train":[…],…}; a section that was not measured is not there. */
bool report_json(const Report *report, const char *path, Error *error);

#endif
