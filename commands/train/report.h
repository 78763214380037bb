/* report.h -- what ./train says of a run: before, while and after it trains. */
#pragma once

#include "commands/train/run.h"

/* What the run consists of: corpus, vocabulary, model, threads, and warnings. Call it after
 * run_prepare_validation. */
void report_begin(Run *run);

/* How long the run will take and how much memory, from a few updates and a validation with the
 * weights in memory, which they change. Collective. */
bool report_estimate(Run *run, Error *error);

void report_progress(Run *run);
void report_validation(const Run *run, bool best);

/* limit: the option that has ended the run; NULL: a signal has. */
void report_end(const Run *run, const char *limit);
