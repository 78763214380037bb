/* startup.c -- starts programs and waits for what they say; see startup.h. */
#include "benchmark/startup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/profile.h"
#include "benchmark/child.h"
#include "benchmark/rate.h"
#include "commands/train/console.h"

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

/* ---- a model, if there is none ---- */

/* Saves a run of preset toy in `folder` as it is before its first update. */
static bool save_toy(const char *folder, Error *error)
{
    static Settings settings;
    static Run run;
    char *argv[] = {"train", "--output", (char *)(size_t)folder, "--threads", "1", NULL};
    bool good = settings_read(&settings, 5, argv, error) &&
                run_read(&run, &settings, console_stage, error) && run_prepare(&run, error) &&
                run_save(&run, run.best, false, error);
    run_free(&run);
    settings_free(&settings);
    return good;
}

static bool time_translate(Startup *startup, const char *programs, const char *model,
                           Error *error)
{
    char program[4096];
    snprintf(program, sizeof program, "%s/translate", programs);
    char *argv[] = {
        program, "--quiet", "--model", (char *)(size_t)model, (char *)(size_t)SENTENCE, NULL};
    return time_median(&startup->translate, argv, STARTS, error);
}

static bool time_with_own(Startup *startup, const char *programs, Error *error)
{
    char folder[4096], file[sizeof folder + 32];
    child_temporary(folder, sizeof folder);
    if (!mkdtemp(folder)) return error_set(error, "cannot make a temporary folder");
    snprintf(file, sizeof file, "%s/best.safetensors", folder);
    snprintf(startup->model, sizeof startup->model, "toy-size model of random weights");
    bool good = save_toy(folder, error) && time_translate(startup, programs, folder, error);
    unlink(file);
    rmdir(folder);
    return good;
}

bool startup_measure(Startup *startup, const char *programs, const char *source,
                     const char *target, Error *error)
{
    static const char toy[] = "checkpoints/toy";
    *startup = (Startup){.model = "checkpoints/toy"};
    bool trained = access("checkpoints/toy/best.safetensors", R_OK) == 0;
    if (!(trained ? time_translate(startup, programs, toy, error)
                  : time_with_own(startup, programs, error)))
        return false;
    if (!source) return true;
    char program[4096];
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
