/* report.h -- what a run is made of, in words: before training, and all that --dry-run says. */
#ifndef COMMANDS_TRAIN_REPORT_H
#define COMMANDS_TRAIN_REPORT_H

#include "commands/train/memory.h"
#include "commands/train/run.h"

#include <stdio.h>

/* Corpus, vocabulary, model, memory, threads, and what is unlikely to go well. After
 * run_prepare. */
void report_print(FILE *out, const Run *run, const Memory *memory);

#endif
