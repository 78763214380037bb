/* report.h -- the results, as tables for people and as JSON for programs. */
#ifndef BENCHMARK_REPORT_H
#define BENCHMARK_REPORT_H

#include "benchmark/decoding.h"
#include "benchmark/scaling.h"
#include "benchmark/startup.h"

#include <stdio.h>

typedef struct TrainingRow {
    const char *preset;
    int threads;
    TrainingResult result;
} TrainingRow;

typedef struct DecodingRow {
    const char *preset;
    int beam, threads;
    bool int8;
    DecodingResult result;
} DecodingRow;

enum { MOST_ROWS = 16, TRAINING_PARTS = 8, DECODING_PARTS = 7 };

/* The parts of each, in the order of the columns; in decoding the loss is the output layer. */
extern const ProfilePart training_parts[TRAINING_PARTS], decoding_parts[DECODING_PARTS];
const char *decoding_part_name(ProfilePart part);

typedef struct Report {
    char corpus[512];  // what was trained on, in words
    TrainingRow train[MOST_ROWS];
    int trains;
    bool peered;  // with the peer beside it
    DecodingRow decode[MOST_ROWS];
    int decodes;
    Startup startup;
    bool started;
    Scaling scaling;
    bool scaled;
} Report;

/* What /proc/cpuinfo calls the processor, or "". */
enum { PROCESSOR_NAME = 128 };
const char *report_processor(char text[PROCESSOR_NAME]);

/* One line on the machine, one on the corpus. */
void report_head(const Report *report, FILE *out);

/* Speed, then the time by part. */
void report_training(const Report *report, FILE *out);

void report_decoding(const Report *report, FILE *out);
void report_startup(const Report *report, FILE *out);
void report_scaling(const Report *report, FILE *out);

/* {"machine":…,"corpus":…,"train":[…],…}; a section that was not measured is not there. */
bool report_json(const Report *report, const char *path, Error *error);

#endif
