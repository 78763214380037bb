/* run.c -- a run that begins with another model: its weights, shape and vocabulary, and nothing
 * else of it. */
#include "commands/train/run.h"

#include "tests/fixtures/temporary-file.h"

static Settings settings;
static Run run;
static Error error;

/* Pairs of words; every sentence is different. */
static bool write_corpus(const char *name, const char *const words[], int count)
{
    char file[TEMPORARY_SIZE + 32];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *out = fopen(file, "w");
    for (int i = 0; out && i < 60; i++)
        fprintf(out, "%s %s %s\n", words[i % count], words[i / count % count],
                words[i / count / count % count]);
    return out && fclose(out) == 0;
}

static const char *in_folder(char text[TEMPORARY_SIZE + 32], const char *option,
                             const char *name)
{
    snprintf(text, TEMPORARY_SIZE + 32, "--%s=%s/%s", option, folder, name);
    return text;
}

/* Reads the corpus and prepares a run in the folder's `output`. */
static bool prepare(const char *output, char *const *options, int count)
{
    char source[TEMPORARY_SIZE + 32], target[TEMPORARY_SIZE + 32], out[TEMPORARY_SIZE + 32];
    char *argv[16] = {"train", (char *)in_folder(source, "train-source", "text.s"),
                      (char *)in_folder(target, "train-target", "text.t"),
                      (char *)in_folder(out, "output", output), "--threads=1"};
    for (int i = 0; i < count; i++) argv[5 + i] = options[i];
    return settings_read(&settings, 5 + count, argv, &error) &&
           run_read(&run, &settings, &error) && run_prepare(&run, &error);
}

static void finish(void)
{
    run_free(&run);
    settings_free(&settings);
}

static void check_init(const char *name, bool average)
{
    static const char *const words[] = {"one", "two", "three", "four", "five"};
    static const char *const others[] = {"one", "two", "three", "six"};
    char *shape[] = {"--tokenizer=word", "--vocab-size=20",     "--d-model=24",
                     "--heads=3",        "--encoder-layers=1",  "--decoder-layers=2",
                     "--ffn=16",         "--positions=learned", "--ema=0.9"};
    assert_true(write_corpus("text.s", words, 5) && write_corpus("text.t", words, 5));
    if (!prepare("a", shape, 9) || !run_begin(&run, &error)) fail_msg("%s", error.text);
    size_t size = run.model.params.size;
    for (size_t i = 0; i < size; i++) run.trainer->optimizer.ema[i] = 7;
    for (size_t i = 0; i < size; i++) run.trainer->optimizer.m[i] = 7;
    run.model.weights.encoder[0].self.out.b[3] = 0.25;
    run.progress.update = 33;
    assert_true(run_save(&run, average ? run.best : run.last, !average, &error));
    real *block = malloc(size * sizeof *block);
    memcpy(block, run.model.block, size * sizeof *block);
    size_t bytes = run.vocabulary.size[TARGET];
    unsigned char *vocabulary = memcpy(malloc(bytes), run.vocabulary.model[TARGET], bytes);
    finish();

    char init[TEMPORARY_SIZE + 32];
    char *options[] = {(char *)in_folder(init, "init", name), "--ema=0.9", "--seed=5"};
    assert_true(write_corpus("text.s", others, 4));
    if (!prepare("b", options, 3)) fail_msg("%s", error.text);
    const ModelConfig *c = &run.model.config;
    assert_true(c->d_model == 24 && c->heads == 3 && c->encoder_layers == 1 && c->ffn == 16 &&
                c->decoder_layers == 2 && c->positions == POSITIONS_LEARNED);
    assert_int_equal(run.model.params.size, size);
    assert_memory_equal(run.model.block, block, size * sizeof *block);
    assert_memory_equal(run.trainer->optimizer.ema, block, size * sizeof *block);
    for (size_t i = 0; i < size; i++) assert_true(run.trainer->optimizer.m[i] == 0);
    assert_true(run.progress.update == 0 && !run.resumed);
    assert_int_equal(run.vocabulary.size[TARGET], bytes);
    assert_memory_equal(run.vocabulary.model[TARGET], vocabulary, bytes);
    assert_true(run.report.unknown[SOURCE] > 0);  // "six"
    finish();
    free(block);
    free(vocabulary);

    char remove[TEMPORARY_SIZE + 32];
    snprintf(remove, sizeof remove, "rm -rf '%s'/*", folder);
    assert_int_equal(system(remove), 0);
}

TEST(weights_shape_and_vocabulary_of_a_folder)
{
    check_init("a", true);
}

TEST(weights_not_their_average_of_last)
{
    check_init("a/last.safetensors", false);
}

TEST_MAIN("run", path_make, path_remove)
