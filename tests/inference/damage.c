/* damage.c -- a checkpoint of version 1 of the format, kept as a file: it loads and translates;
 * with a changed byte, wherever it is, it is refused in one sentence or means the same; a later
 * version is refused by name.
 *
 * The file is last.safetensors of a run of 200 updates over the pairs below, which it translates
 * without a mistake. Bytes are changed in a copy without Adam's moments, which is half as
 * long. */
#include "base/block.h"
#include "base/file.h"
#include "inference/bundle.h"
#include "inference/translator.h"
#include "model/checkpoint.h"
#include "tests/fixtures/temporary-file.h"

static const char *const pairs[][2] = {{"a", "b"},     {"b", "a"},     {"a b", "b a"},
                                       {"b a", "a b"}, {"a a", "b b"}, {"b b", "a a"}};
static char *version_1, *copy;
static size_t version_1_size, size;  // of the copy
static CheckpointFile whole;         // version_1
static Params params;
static real *weights, *block;  // [params.size]
static Workers *worker;
static Error error;

/* Whether the bytes translate; then as expected. */
static bool translates(const char *bytes, size_t length)
{
    Bundle bundle;
    if (!bundle_load_bytes(&bundle, bytes, length, "it", BUNDLE_FLOAT, &error)) return false;
    Ensemble ensemble = ensemble_of(&bundle.model);
    if (!params.count) assert_true(params_table(&params, &bundle.model.config, &error));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        IdLines lines = {0};
        Translations out;
        char *text;
        assert_true(bundle_encode(&bundle, SOURCE, &lines, pairs[i][0], strlen(pairs[i][0]),
                                  &(size_t){0}, &error));
        TranslatorInput input = {.source = idlines_packed(&lines), .line = 1};
        assert_true(
            translator_run(&out, &ensemble, &input, &search_default, worker, NULL, &error));
        const Hypothesis *best = out.sentence[0].hypothesis;
        assert_true(tokenizer_decode(bundle.vocabulary.tokenizer[TARGET], &text, best->id,
                                     (size_t)best->length, &error));
        assert_string_equal(text, pairs[i][1]);
        free(text);
        translations_free(&out);
        idlines_free(&lines);
    }
    bundle_free(&bundle);
    return true;
}

/* Whether the copy can be read; then all of it is as it was. */
static bool same(void)
{
    CheckpointFile file;
    if (!checkpoint_open(&file, "it", copy, size, &error)) return false;
    bool good = checkpoint_read(&file, &params, CHECKPOINT_WEIGHTS, NULL, block, &error);
    if (good) {
        assert_memory_equal(block, weights, params.size * sizeof *block);
        assert_string_equal(file.config, whole.config);
        assert_string_equal(file.progress, whole.progress);
        assert_int_equal(file.tokenizer_size[1], whole.tokenizer_size[1]);
        assert_memory_equal(file.tokenizer[1], whole.tokenizer[1], whole.tokenizer_size[1]);
    }
    checkpoint_close(&file);
    return good;
}

/* One sentence, with nothing in it that a terminal would not show. */
static void assert_sentence(void)
{
    size_t length = strlen(error.text);
    assert_true(length > 10 && length < sizeof error.text - 1);
    for (size_t i = 0; i < length; i++)
        assert_true((unsigned char)error.text[i] >= ' ' && error.text[i] != 0x7F);
}

TEST(version_1_loads)
{
    static const char *const prefixes[] = {CHECKPOINT_ADAM_M, CHECKPOINT_ADAM_V,
                                           CHECKPOINT_WEIGHTS};
    const char *name = "tests/fixtures/checkpoint-1.safetensors";
    assert_non_null(worker = workers_start(1, &error));
    assert_non_null(version_1 = file_read(name, 1 << 20, &version_1_size, &error));
    assert_true(translates(version_1, version_1_size));
    weights = block_zeros(params.size * sizeof(real), &error),
    block = block_zeros(params.size * sizeof(real), &error);
    assert_true(checkpoint_open(&whole, "it", version_1, version_1_size, &error));
    for (int i = 0; i < 3; i++)
        assert_true(checkpoint_read(&whole, &params, prefixes[i], NULL, weights, &error));

    const Checkpoint small = {.params = &params,
                              .weights = weights,
                              .config = whole.config,
                              .progress = whole.progress,
                              .tokenizer[1] = whole.tokenizer[1],
                              .tokenizer_size[1] = whole.tokenizer_size[1]};
    assert_true(checkpoint_save(&small, path, &error));
    assert_non_null(copy = file_read(path, 1 << 20, &size, &error));
    assert_true(same());
}

/* Every byte has one bit changed, another for each byte. */
TEST(a_changed_byte_is_found_or_changes_nothing)
{
    size_t refused = 0;
    for (size_t at = 0; at < size; at++) {
        copy[at] ^= (char)(1 << at % 8);
        error.text[0] = '\0';
        if (same()) assert_true(translates(copy, size));
        else refused++, assert_sentence();
        copy[at] ^= (char)(1 << at % 8);
    }
    print_message("%zu bytes: %zu changes refused, the others harmless\n", size, refused);
    assert_true(refused > size / 100 * 99);
}

/* A file with another version, whose header has no checksum any more. */
TEST(a_later_version_is_refused_by_name)
{
    char *version = memmem(version_1, version_1_size, "\"version\":\"1\"", 13),
         *header = memmem(version_1, version_1_size, "crc32.header", 12);
    assert_true(version && header);
    header[0] = 'C';
    assert_true(translates(version_1, version_1_size));
    version[11] = '2';
    assert_false(translates(version_1, version_1_size));
    assert_non_null(strstr(error.text, "version '2'"));
    assert_sentence();
}

FIXTURE(teardown)
{
    checkpoint_close(&whole);
    free(weights), free(block), free(version_1), free(copy);
    params_free(&params);
    workers_stop(worker);
    return path_remove(state);
}

TEST_MAIN("damage", path_make, teardown)
