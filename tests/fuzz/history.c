/* history.c -- fuzzes the files that a run which is resumed reads to add to them: metrics.jsonl,
 * watch.jsonl and weights.tsv. Each gets all of the input. What is kept is written, and read
 * again. */
#include "tests/fixtures/fuzz-model.h"

#include "commands/train/watch.h"
#include "commands/train/weights.h"

enum { UPDATE = 1000 };

static void read_metrics(const uint8_t *data, size_t size)
{
    Metrics metrics, again;
    char path[TEMPORARY_SIZE + 32];
    fuzz_file(path, "metrics.jsonl", data, size);
    if (!accepted(metrics_open(&metrics, path, UPDATE, UPDATE, &error))) return;
    assert(metrics_open(&again, path, UPDATE, UPDATE, &error) && again.count == metrics.count);
    assert(!(metrics_seconds(&again) < 0));
    for (size_t i = 0; i < again.count; i++)
        assert(again.line[i].update > 0 && again.line[i].update <= UPDATE);
    metrics_close(&metrics);
    metrics_close(&again);
}

static void read_frames(Run *run, const Recorder *recorder, const char *name,
                        const uint8_t *data, size_t size)
{
    char path[TEMPORARY_SIZE + 32];
    fuzz_file(path, name, data, size);
    bool good = true;
    for (int again = 0; good && again < 2; again++) {
        good = recorder->open(run, &error);
        assert(accepted(good) || !again);  // what was kept is read again
        if (recorder->close) recorder->close();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Settings settings;
    static size_t start[] = {0, 2};
    static int32_t id[] = {2, ID_END};
    static Run run;
    char path[TEMPORARY_SIZE + 32];
    settings.run = (RunConfig){.watch = "a b ||| b", .output = fuzz_path(path, "")};
    run = (Run){.settings = &settings,
                .vocabulary = fuzz_model()->vocabulary,
                .model = fuzz_model()->model,
                .valid = {1, {id, id}, {start, start}, {5, 5}, NULL},
                .progress.update = UPDATE};
    read_metrics(data, size);
    read_frames(&run, &watch_recorder, "watch.jsonl", data, size);
    read_frames(&run, &weights_recorder, "weights.tsv", data, size);
    return 0;
}
