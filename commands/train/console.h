/* console.h -- what ./train prints on standard error while it trains.
 *
 * The progress line is that of commands/progressbar.h. Outside a terminal it comes with a line
 * of metrics, but not more often than every 5 seconds, and at least every 30. A quiet console
 * prints nothing but errors. */
#pragma once

#include "commands/train/validation.h"

/* The work done since the last line of metrics. */
typedef struct Throughput {
    double flops, seconds;
    long long tokens;
} Throughput;

void console_start(bool quiet);

/* One line, in place of the progress line if there is one. */
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the run consists of: corpus, vocabulary, model, memory, threads, and warnings. Call it
 * after run_prepare and validation_create. */
bool console_report(Run *run, Validation *validation, Error *error);

/* How long the run will take, from a few updates and a validation with the weights in memory, which
 * they change. Collective. */
bool console_estimate(Run *run, Validation *validation, Error *error);

/* Says what the program does until the next call of another function here: "reading a.en … 12s".
 * Outside a terminal only if that takes longer than 5 seconds. */
RunStage console_stage;

/* The progress line; news: after a line of metrics. */
void console_progress(Run *run, const Throughput *throughput, const UpdateStats *last,
                      bool news);

void console_validation(const Run *run, const Validation *validation, bool best);
void console_end(const Run *run, bool stopped);
/* "train: KIND ERROR AFTER", even if quiet; kind is "" or "warning: ". */
void console_error(const char *kind, const Error *error, const char *after);
