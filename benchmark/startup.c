/* startup.c -- starts programs and waits for what they say; see startup.h. */
#include "benchmark/startup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "benchmark/child.h"
#include "benchmark/rate.h"
#include "commands/command.h"

static const char SENTENCE[] = "jane visits africa in september";

/* *seconds (=) until the first line is whole. */
static bool time_program(double *seconds, char *const *argv, Error *error)
{
    int output;
    double begin = clock_seconds();
    pid_t child = child_start(&output, argv, error);
    if (child < 0) return false;
    char bytes[4096];
    *seconds = 0;
    for (ssize_t n; (n = read(output, bytes, sizeof bytes)) != 0;) {
        if (n < 0 && errno != EINTR) break;
        if (n > 0 && !*seconds && memchr(bytes, '\n', (size_t)n))
            *seconds = clock_seconds() - begin;
    }
    close(output);
    if (child_wait(child) && *seconds > 0) return true;
    return error_set(error, "%s did not do its work: is it built?", argv[0]);
}

static bool time_median(double *seconds, char *const *argv, int runs, Error *error)
{
    double sample[STARTS];
    for (int i = 0; i < runs; i++)
        if (!time_program(&sample[i], argv, error)) return false;
    *seconds = rate_median(sample, runs);
    return true;
}

bool startup_measure(Startup *startup, const char *programs, const char *source,
                     const char *target, Error *error)
{
    char program[4096], model[4200];
    if (!file_of_toy(model, sizeof model, "model.safetensors"))
        return error_set(error, "there is no data/toy/model.safetensors: run it in its folder");
    snprintf(program, sizeof program, "%s/translate", programs);
    char *translate[] = {program, "--quiet", "--model", model, (char *)(size_t)SENTENCE, NULL};
    *startup = (Startup){0};
    if (!time_median(&startup->translate, translate, STARTS, error)) return false;
    if (!source) return true;
    snprintf(program, sizeof program, "%s/train", programs);
    char *argv[] = {program,
                    "--dry-run",
                    "--train-source",
                    (char *)(size_t)source,
                    "--train-target",
                    (char *)(size_t)target,
                    "--output",
                    "build/benchmark/no-run",
                    NULL};
    return time_median(&startup->dry_run, argv, DRY_RUNS, error);
}
