/* console.h -- what ./train prints on standard error while it trains.
 *
 * On a terminal the progress line is redrawn in place; elsewhere it is printed with each line
 * of metrics. A quiet console prints nothing but errors. */
#ifndef COMMANDS_TRAIN_CONSOLE_H
#define COMMANDS_TRAIN_CONSOLE_H

#include "commands/train/validation.h"

/* The work done since the last line of metrics. */
typedef struct Throughput {
    double flops, seconds;
    long long tokens, updates;
} Throughput;

void console_start(bool quiet);

/* One line, in place of the progress line if there is one. */
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the run consists of: corpus, vocabulary, model, memory, threads, and warnings. Call it
 * after run_prepare and validation_create. */
bool console_report(Run *run, Validation *validation, Error *error);

/* The progress line; due: whether to print it also where it cannot be redrawn. */
void console_progress(Run *run, const Throughput *throughput, const UpdateStats *last,
                      bool due);

void console_validation(const Run *run, const Validation *validation, bool best);
void console_end(const Run *run, bool stopped);
void console_error(const Error *error);

#endif
