/* report.h -- what a run is made of, in words: before training, and all that --dry-run says. */
#ifndef PROGRAM_REPORT_H
#define PROGRAM_REPORT_H

#include "program/memory.h"
#include "program/run.h"

#include <stdio.h>

/* Corpus, vocabulary, model, memory, threads, and what is unlikely to go well. After
 * run_prepare. */
void report_print(FILE *out, const Run *run, const Memory *memory);

#endif
