/* plan.h -- the options of the benchmark. */
#pragma once

#include "base/options.h"

typedef enum {
    SECTION_TRAIN,
    SECTION_PEER,
    SECTION_DECODE,
    SECTION_STARTUP,
    SECTION_SCALING,
    SECTIONS
} Section;

enum { ONLY_ALL, PRESETS_FROM = 1, MOST_THREADS = 1024 };

/* "all", "tiny", "small", "base", NULL: the choices of --only. */
extern const char *const plan_presets[];

typedef struct Plan {
    char *sections, *json;
    char *corpus, *corpus_target;
    char *programs;  // the folder of ./train and ./translate
    int only;        // of plan_presets
    int precision;   // a Precision (model/config.h)
    double seconds;
    int threads;  // 0: one, and then all
    bool help;
    bool wants[SECTIONS];  // what `sections` says
    OptionGroup group;     // of all above
} Plan;

/* Reads the command line. False is wrong use. */
bool plan_read(Plan *plan, int argc, char *const *argv, Error *error);
void plan_free(Plan *plan);

/* The help of the options; free() it. */
char *plan_help(void);

/* threads [2] (=) the thread counts to measure; returns how many there are. */
int plan_threads(const Plan *plan, int threads[2]);
