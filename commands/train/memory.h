/* memory.h -- how much memory a run will take, before it takes it. */
#ifndef COMMANDS_TRAIN_MEMORY_H
#define COMMANDS_TRAIN_MEMORY_H

#include "commands/train/run.h"
#include "commands/train/validation.h"

typedef struct Memory {
    double training;    // bytes, resident
    double validating;  // the same while it validates, translating and drawing, at most
    double before;      // the most that reading the corpus and learning the tokenizer took
} Memory;

/* First of all: large blocks go back to the system as soon as they are freed. Otherwise glibc
 * keeps ever larger ones for itself: what a validation takes would stay with the process, 144
 * MB instead of 76 for the toy corpus. */
void memory_setup(void);

/* After run_prepare and validation_create. What is there already is asked of the system;
 * activations are those of the largest micro-batch among the first updates, on every thread. */
bool memory_estimate(Memory *memory, Run *run, Validation *validation, Error *error);

#endif
