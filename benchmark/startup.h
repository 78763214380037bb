/* startup.h -- the time from starting a program to its first line. */
#pragma once

#include "base/error.h"

enum { STARTS = 9, DRY_RUNS = 3 };

typedef struct Startup {
    double
        translate;   // seconds from fork to the first line of its output, the median of STARTS
    double dry_run;  // seconds of ./train --dry-run on the corpus, the median of DRY_RUNS; or 0
} Startup;

/* Runs the programs in the folder `programs`. Translates with the toy model that comes
 * with qkv. source, target: the corpus of the dry run, or NULL. */
bool startup_measure(Startup *startup, const char *programs, const char *source,
                     const char *target, Error *error);
