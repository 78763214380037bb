/* history.c -- fuzzes the folder of a run: ./train goes on with it, validates, records, saves and
 * draws, and then finds what it has left there. The parts of the input, with 0x1E between them:
 *
 *     the configuration, which is --config, too, and the progress, both in last.safetensors;
 *     nothing means those of a run that was stopped after update 10
 *     metrics.jsonl, watch.jsonl, weights.tsv */
#include "commands/command.h"
#define command_draw(draw, context, name, error) draw(context, error)  // not in a child
#include "commands/train/pictures.c"
#define main train_main
#include "train.c"
#undef main

#include "tests/fixtures/fuzz-model.h"

enum { UPDATE = 10 };

/* Reads the command line of a training in the folder, with a configuration or without. */
static bool read_settings(Settings *settings, char *config)
{
    static char text[TEMPORARY_SIZE + 32], other[TEMPORARY_SIZE + 32];
    fuzz_file(text, "s", "a\nb\na b\n", 8), fuzz_file(other, "t", "b\na\nb a\n", 8);
    char *argv[] = {"train",
                    FUZZ_CORPUS(text, other),
                    "--output",
                    fuzz_folder,
                    "--max-updates=12",
                    "--valid-every=5",
                    config ? "--config" : "--preset=toy",
                    config ? config : "--watch=a b ||| b",
                    "--d-model=4",
                    "--heads=2",
                    "--ffn=1",
                    "--encoder-layers=1",
                    "--decoder-layers=1",
                    "--max-length=6",
                    "--normalization=identity",
                    "--vocab-size=8"};
    static char *kept[sizeof argv / sizeof *argv];  // settings_take reads them again
    memcpy(kept, argv, sizeof argv);
    if (!accepted(settings_read(settings, sizeof argv / sizeof *argv, kept, &error)))
        return false;
    /* no other files, and no long training */
    const DataConfig *data = &settings->data;
    return settings->train.count == 1 && settings->valid.count == 1 &&
           !strcmp(settings->train.file->source, text) && !data->tokenizer_model.count &&
           !settings->fine_tuning.init && !settings->fine_tuning.teacher.count &&
           !settings->run.dry_run && !settings->run.help && settings->run.output;
}

/* The run that the inputs are parts of. */
static const Run *fuzz_run(void)
{
    static Settings settings;
    static Run run;
    if (run.trainer) return &run;
    const Vocabulary *vocabulary = &fuzz_model()->vocabulary;
    assert(read_settings(&settings, NULL));
    char path[TEMPORARY_SIZE + 32];
    fuzz_file(path, "tokenizer.model", vocabulary->model[TARGET], vocabulary->size[TARGET]);
    char lock[TEMPORARY_SIZE + 32];
    fuzz_file(lock, ".lock", "", 0);  // a folder with files that a run has begun
    assert(strings_add(&settings.data.tokenizer_model, path, &error) &&
           run_read(&run, &settings, &error) && run_prepare(&run, &error));
    run.progress.update = run.progress.validated = run.progress.epoch = UPDATE;
    return &run;
}

/* Writes last.safetensors with a configuration and a progress; "": those of the run. */
static void save_last_file(const char *config, const char *progress)
{
    const Run *run = fuzz_run();
    const Vocabulary *v = &run->vocabulary;
    char *own_config = options_to_json(run->settings->groups, SETTINGS_GROUPS, false),
         *own_progress = progress_to_json(&run->progress), path[TEMPORARY_SIZE + 32];
    const Checkpoint checkpoint = {.params = &run->model.params,
                                   .weights = run->model.block,
                                   .block = run->trainer->optimizer.block,
                                   .config = *config ? config : own_config,
                                   .progress = *progress ? progress : own_progress,
                                   .tokenizer = {v->model[SOURCE], v->model[TARGET]},
                                   .tokenizer_size = {v->size[SOURCE], v->size[TARGET]}};
    assert(own_config && own_progress &&
           checkpoint_save(&checkpoint, fuzz_path(path, "last.safetensors"), &error));
    free(own_config);
    free(own_progress);
}

/* ./train. What went wrong without ending the run is one sentence each, too. */
static bool go_on(char *config)
{
    static Settings settings;
    static Run run;
    bool good = read_settings(&settings, config);
    if (good) {
        good = accepted(whole_story(&run, &settings, &error));
        run_free(&run);
    }
    for (int f = 0; f < OUTPUTS; f++) error = failure[f], accepted(!*error.text);
    memset(failure, 0, sizeof failure);
    ending = false;
    settings_free(&settings);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CONFIG, PROGRESS, METRICS, WATCH, WEIGHTS, PARTS };
    static const char *const name[] = {"config.json",      "progress",    "metrics.jsonl",
                                       "watch.jsonl",      "weights.tsv", "best.safetensors",
                                       "last.safetensors", "loss.png",    "attention.png",
                                       "weights.png",      "watch.png"};
    char *part[PARTS], path[PARTS][TEMPORARY_SIZE + 32];
    FILE *nowhere = fopen("/dev/null", "w"), *own = stderr;
    fuzz_run();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) unlink(fuzz_path(path[0], name[i]));
    for (int i = 0; i < PARTS; i++) {
        size_t length;
        part[i] = fuzz_part(&length, &data, &size);
        if (i >= METRICS || length) fuzz_file(path[i], name[i], part[i], length);
    }
    save_last_file(part[CONFIG], part[PROGRESS]);
    console_start(false);
    char *config = *part[CONFIG] ? path[CONFIG] : NULL;
    stderr = nowhere;
    if (go_on(config)) assert(go_on(config));  // nothing is left to do
    stderr = own;
    fclose(nowhere);
    for (int i = 0; i < PARTS; i++) free(part[i]);
    return 0;
}
