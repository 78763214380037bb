/* plan.c -- the options of the benchmark; see plan.h. */
#include "benchmark/plan.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "model/config.h"

const char *const plan_presets[] = {"all", "tiny", "small", "base", NULL};
static const char *const SECTION_NAMES[SECTIONS] = {"train", "peer", "decode", "startup",
                                                    "scaling"};

#define FIELD(name) offsetof(Plan, name)
// clang-format off
static const Option options[] = {
    {"sections", OPTION_TEXT, FIELD(sections), 0, 0, NULL, "LIST",
     "what to measure, separated by commas: train, peer (PyTorch on the same batches, with train), "
     "decode, startup, scaling", 0},
    {"only", OPTION_CHOICE, FIELD(only), 0, 0, plan_presets, NULL,
     "the preset to train and decode with", 0},
    {"precision", OPTION_CHOICE, FIELD(precision), 0, 0, precision_names, NULL,
     "./train's --precision", 0},
    {"seconds", OPTION_REAL, FIELD(seconds), 0.01, 3600, NULL, NULL,
     "seconds to measure each size and number of threads, at least 3 updates", 0},
    {"threads", OPTION_INT, FIELD(threads), 0, MOST_THREADS, NULL, NULL,
     "threads; 0: measure with one, then with one for each processor", 0},
    {"corpus", OPTION_TEXT, FIELD(corpus), 0, 0, NULL, "FILE",
     "real source sentences, plain or .gz, instead of synthetic ones", 0},
    {"corpus-target", OPTION_TEXT, FIELD(corpus_target), 0, 0, NULL, "FILE",
     "and their translations", 0},
    {"json", OPTION_TEXT, FIELD(json), 0, 0, NULL, "FILE",
     "also write all results to FILE", 0},
    {"programs", OPTION_TEXT, FIELD(programs), 0, 0, NULL, "DIR",
     "the folder of ./train and ./translate", 0},
    {"help", OPTION_FLAG, FIELD(help), 0, 0, NULL, NULL, "print this", OPTION_LETTER},
};
// clang-format on

static bool defaults(Plan *plan, Error *error)
{
    *plan = (Plan){.seconds = 8};
    plan->group =
        (OptionGroup){"Options", NULL, options, sizeof options / sizeof *options, plan};
    plan->sections = strdup("train,peer,decode,startup,scaling");
    plan->programs = strdup(".");
    return (plan->sections && plan->programs) || error_memory(error, "for the options");
}

/* Turns "train,scaling" into wants. */
static bool read_sections(Plan *plan, Error *error)
{
    for (const char *word = plan->sections; word;) {
        size_t length = strcspn(word, ",");
        int s = 0;
        while (s < SECTIONS && (strlen(SECTION_NAMES[s]) != length ||
                                strncmp(word, SECTION_NAMES[s], length) != 0))
            s++;
        if (s == SECTIONS)
            return error_set(error,
                             "--sections takes train, peer, decode, startup and scaling, "
                             "separated by commas, not '%.*s'",
                             (int)length, word);
        plan->wants[s] = true;
        word = word[length] ? word + length + 1 : NULL;
    }
    return !plan->wants[SECTION_PEER] || plan->wants[SECTION_TRAIN] ||
           error_set(error, "--sections peer goes with train");
}

bool plan_read(Plan *plan, int argc, char *const *argv, Error *error)
{
    if (!defaults(plan, error) || !options_parse(&plan->group, 1, argc, argv, NULL, error))
        return false;
    if (plan->help) return true;
    if (!plan->corpus != !plan->corpus_target)
        return error_set(error, "--corpus and --corpus-target go together");
    if (!plan->programs || !plan->sections)
        return error_set(error, "--programs and --sections are needed");
    return read_sections(plan, error);
}

void plan_free(Plan *plan)
{
    options_free(&plan->group, 1);
}

char *plan_help(void)
{
    Plan plan;
    char *help = defaults(&plan, NULL) ? options_help(&plan.group, 1, false) : NULL;
    plan_free(&plan);
    return help;
}

int plan_threads(const Plan *plan, int threads[2])
{
    threads[0] = plan->threads ? plan->threads : 1;
    threads[1] = workers_processors();
    return plan->threads || threads[1] == 1 ? 1 : 2;
}
