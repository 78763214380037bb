/* memory.c -- the memory that ./train estimates, against the peak that the system measured. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fixtures/temporary.h"
#include "tests/fixtures/test.h"

static char folder[TEMPORARY_SIZE];

/* Runs ./train with these options; returns its peak resident size in MB. Its standard error
 * goes to folder/err. */
static double train(const char *options)
{
    char command[8192];
    const char *bin = getenv("BIN");
    int status;
    snprintf(command, sizeof command, "exec %s/train %s 2>%s/err", bin ? bin : ".", options,
             folder);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    struct rusage usage;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_int_equal(status, 0);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* The two numbers of the report's line "memory". */
static void read_estimate(double *training, double *validating)
{
    char path[TEMPORARY_SIZE + 8], line[512];
    int found = 0;
    snprintf(path, sizeof path, "%s/err", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (found != 2 && fgets(line, sizeof line, file))
        found = sscanf(line, "memory %lf MB, at most %lf MB", training, validating);
    fclose(file);
    assert_int_equal(found, 2);
}

/* Writes 1,500 pairs of random words. */
static void write_corpus(void)
{
    char path[TEMPORARY_SIZE + 8];
    FILE *file[2];
    for (int side = 0; side < 2; side++) {
        snprintf(path, sizeof path, "%s/%c", folder, "st"[side]);
        assert_non_null(file[side] = fopen(path, "w"));
    }
    unsigned random = 1;
    for (int pair = 0; pair < 1500; pair++)
        for (int side = 0; side < 2; side++) {
            for (int word = 0; word < 5 + pair % 10; word++) {
                random = random * 1664525 + 1013904223;
                fprintf(file[side], "%sw%u", word ? " " : "", (random >> 16) % 700);
            }
            fputc('\n', file[side]);
        }
    fclose(file[0]);
    fclose(file[1]);
}

static const char *const CONFIGURATIONS[] = {
    "--d-model 64 --ffn 128 --heads 2 --micro-tokens 1500 --batch-tokens 6000",
    "--d-model 128 --ffn 512 --micro-tokens 300 --batch-tokens 3000 --ema 0.9"};

TEST(estimate_is_near_the_peak)
{
    for (int i = 0; i < 2; i++) {
        char options[4096];
        double training, validating, took;
        snprintf(
            options, sizeof options,
            "--train-source %s/s --train-target %s/t --valid-split 100 --tokenizer word "
            "--normalization identity --encoder-layers 2 --decoder-layers 2 --max-length 64 "
            "--threads 2 --max-updates 8 --valid-every 4 --valid-translations 0 "
            "--output %s/run%d %s",
            folder, folder, folder, i, CONFIGURATIONS[i]);
        took = train(options);
        read_estimate(&training, &validating);
        double most = i == 0 ? training : validating;
        print_message("said %.1f MB, took %.1f MB\n", most, took);
        if (took < 0.9 * most || took > 1.1 * most)
            fail_msg("said %.1f MB, took %.1f MB", most, took);

        /* The run is resumed, and translates. */
        strcat(options, " --max-updates 12 --valid-translations 100");
        took = train(options);
        read_estimate(&training, &validating);
        print_message("said at most %.1f MB, took %.1f MB\n", validating, took);
        if (took > 1.1 * validating || took < 0.6 * validating)
            fail_msg("said at most %.1f MB, took %.1f MB", validating, took);
    }
}

static int make_folder(void **state)
{
    (void)state;
    if (!temporary_folder(folder, NULL)) return -1;
    write_corpus();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[TEMPORARY_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped memory: a sanitizer needs its own\n");
    return 0;
#endif
    return run_all_tests("memory", make_folder, remove_folder);
}
