/* marian.c -- fuzzes folders of Hugging Face's MarianMT: config.json, vocab.json, the header of
 * model.safetensors without its length, and its data, with 0x1E between them; the SentencePiece
 * models are fuzz-model.h's. What can be exported again is written as a folder that is the same
 * when it is exported once more. */
#include "tests/fixtures/fuzz-model.h"

#include "inference/marian.h"

static const char *const files[] = {"config.json",          "vocab.json",
                                    "source.spm",           "target.spm",
                                    "model.safetensors",    "generation_config.json",
                                    "tokenizer_config.json"};
enum { SPM = 2, FILES = sizeof files / sizeof *files, LARGE = 1 << 20 };

/* Loads a folder and exports it. false: one of them was refused */
static bool export(const char *from, const char *to)
{
    Bundle bundle;
    if (!accepted(bundle_load(&bundle, from, BUNDLE_ROWS, NULL, &error))) return false;
    bool good = marian_export(&bundle.model, &bundle.vocabulary, to, &error);
    bundle_free(&bundle);
    return accepted(good);
}

static void remove_folder(const char *folder)
{
    for (int i = 0; i < FILES; i++) {
        char path[TEMPORARY_SIZE + 64];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[TEMPORARY_SIZE + 32], first[TEMPORARY_SIZE + 32], second[TEMPORARY_SIZE + 32];
    for (int side = SOURCE; side < SIDES; side++) {
        size_t length;
        const void *model = vocabulary_model(&fuzz_model()->vocabulary, side, &length);
        fuzz_file(path, files[SPM + side], model, length);
    }
    for (int i = 0; i < 2; i++) {
        size_t length;
        char *part = fuzz_part(&length, &data, &size);
        fuzz_file(path, files[i], part, length);
        free(part);
    }
    size_t length;
    char *header = fuzz_part(&length, &data, &size);
    uint64_t number = length;
    FILE *weights = fopen(fuzz_path(path, files[4]), "w");
    assert(weights && fwrite(&number, sizeof number, 1, weights) &&
           fwrite(header, 1, length, weights) == length &&
           fwrite(data, 1, size, weights) == size && !fclose(weights));
    free(header);
    if (export(fuzz_folder, fuzz_path(first, "first"))) {
        assert(export(first, fuzz_path(second, "second")));
        for (int i = 0; i < FILES; i++) {
            char other[TEMPORARY_SIZE + 64];
            size_t sizes[2];
            snprintf(other, sizeof other, "%s/%s", first, files[i]);
            char *one = file_read(other, LARGE, &sizes[0], &error);
            snprintf(other, sizeof other, "%s/%s", second, files[i]);
            char *two = file_read(other, LARGE, &sizes[1], &error);
            assert(one && two && sizes[0] == sizes[1] && !memcmp(one, two, sizes[0]));
            free(one);
            free(two);
        }
        remove_folder(second);
        remove_folder(first);
    }
    return 0;
}
