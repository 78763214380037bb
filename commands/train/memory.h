/* memory.h -- an estimate of the memory that a run takes, made before it trains. */
#ifndef COMMANDS_TRAIN_MEMORY_H
#define COMMANDS_TRAIN_MEMORY_H

#include "commands/train/run.h"
#include "commands/train/validation.h"

typedef struct Memory {
    double training;    // bytes, resident
    double validating;  // the most while it validates, translates and draws
    double before;      // the peak while the corpus was read and the tokenizer learned
} Memory;

/* Call this first. It makes glibc return large blocks to the system as soon as they are freed.
 * Otherwise the memory of a validation stays with the process: 144 MB instead of 76 for the toy
 * corpus. */
void memory_setup(void);

/* After run_prepare and validation_create. Asks the system for the memory in use, and adds the
 * activations of the largest micro-batch among the first updates, on every thread. */
bool memory_estimate(Memory *memory, Run *run, Validation *validation, Error *error);

#endif
