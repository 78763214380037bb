/* report.h -- the results, as tables for people and as JSON for programs. */
#pragma once

#include "benchmark/decoding.h"
#include "benchmark/scaling.h"
#include "benchmark/startup.h"

#include <stdio.h>

typedef struct TrainingRow {
    const char *preset;
    int threads;
    bool openblas;  // who multiplied
    TrainingResult result;
} TrainingRow;

typedef struct DecodingRow {
    const char *preset;
    int beam, threads;
    bool int8;
    DecodingResult result;
} DecodingRow;

enum { MOST_ROWS = 16 };

/* "OpenBLAS", or "own tile" */
const char *engine_name(bool openblas);

typedef struct Report {
    char corpus[512];  // a description of the corpus
    TrainingRow train[MOST_ROWS];
    int trains;
    bool peered;  // PyTorch was measured too
    DecodingRow decode[MOST_ROWS];
    int decodes;
    Startup startup;
    bool started;
    Scaling scaling;
    bool scaled;
} Report;

/* Each prints one table. */
void report_head(const Report *report, FILE *out);
void report_training(const Report *report, FILE *out);
void report_decoding(const Report *report, FILE *out);
void report_startup(const Report *report, FILE *out);
void report_scaling(const Report *report, FILE *out);

/* {"machine":…,"corpus":…,"train":[…],…}, without the sections that were not measured. */
bool report_json(const Report *report, const char *path, Error *error);
