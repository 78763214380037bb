/* checkpoint.c -- fuzzes checkpoints, read as by ./train, which goes on with one or begins from it
 * (--init), and as by ./translate. The first byte chooses: a whole file follows, or (1) a header
 * without its length, 0x1E, and the data, so that a header may become longer; ./translate
 * quantises (2). */
#include "tests/fixtures/fuzz-model.h"

#include "commands/train/run.h"

/* Goes on with OUTPUT/last.safetensors, or begins from it in a folder that does not exist. */
static void train(bool init)
{
    static Settings settings;
    static Run run;
    char text[TEMPORARY_SIZE + 32], other[TEMPORARY_SIZE + 32], none[TEMPORARY_SIZE + 32];
    fuzz_file(other, "t", "b\na\n", 4), fuzz_file(text, "s", "a\nb\n", 4);
    char *argv[] = {"train",
                    FUZZ_CORPUS(text, other),
                    "--output",
                    init ? fuzz_path(none, "none") : fuzz_folder,
                    "--preset=toy",
                    "--ema=0.9",
                    init ? "--init" : "--d-model=2",
                    init ? fuzz_folder : "--heads=1",
                    "--ffn=1",
                    "--encoder-layers=1",
                    "--decoder-layers=1",
                    "--max-length=6",
                    "--normalization=identity",
                    "--vocab-size=8",
                    "--no-output-bias"};
    int argc = init ? 17 : sizeof argv / sizeof *argv;
    bool good = accepted(settings_read(&settings, argc, argv, &error));
    if (good) {
        good = run_read(&run, &settings, &error) && run_prepare(&run, &error);
        assert(!strstr(error.text, "SentencePiece") || strstr(error.text, fuzz_folder));
        if (accepted(good)) {
            assert(run.progress.update >= 0 && run_last_update(&run) >= 0);
            char *progress = progress_to_json(&run.progress);
            assert(progress);
            free(progress);
        }
        run_free(&run);
    }
    settings_free(&settings);
}

static void translate(const void *bytes, size_t size, BundleMatrices matrices)
{
    Bundle bundle;
    if (!accepted(bundle_load_bytes(&bundle, bytes, size, "it", matrices, &error))) return;
    assert(bundle.max_length > 1);
    bundle_free(&bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[TEMPORARY_SIZE + 32];
    if (!size) return 0;
    unsigned flags = *data++;
    const uint8_t *end = --size && flags & 1 ? memchr(data, 0x1E, size) : NULL;
    uint64_t length = end ? (uint64_t)(end - data) : size;
    size_t first = flags & 1 ? sizeof length : 0, all = first + size - !!end;
    unsigned char *file = malloc(all + 1);
    memcpy(file, &length, first);
    memcpy(file + first, data, length);
    if (end) memcpy(file + first + length, end + 1, size - length - 1);
    fuzz_file(path, "last.safetensors", file, all);
    train(false);
    train(true);
    translate(file, all, flags & 2 ? BUNDLE_INT8 : BUNDLE_FLOAT);
    free(file);
    return 0;
}
