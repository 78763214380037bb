/* pairs.h -- the sentence pairs of ./translate --score, --align and --head-report:
 * sources and targets in two files, line by line, or lines of source TAB target. */
#pragma once

#include <signal.h>

#include "commands/translate/input.h"
#include "inference/bundle.h"

typedef struct Pairs {
    const Bundle *bundle;
    Input *input;        // sources, or source TAB target (further columns are ignored)
    TextReader *target;  // the targets; or NULL
    FILE *news;          // for warnings, or NULL
    const volatile sig_atomic_t *stop;  // once it is not 0, no more pairs are read
    const uint64_t *shuffle;            // the seed of --shuffle-source; or NULL
} Pairs;

/* Adds the pair that begins with the line just read, and names its unknown words: both lists
 * need find_unknown. *too_long (=) whether a side was cut because it is longer than the model
 * takes. */
bool pairs_add(const Pairs *pairs, IdLines *source, IdLines *target, bool *too_long,
               const char *line, size_t length, Error *error);
