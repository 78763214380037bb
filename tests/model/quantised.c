/* quantised.c -- a prepared network translates as before, with floats up to rounding and with
 * int8 nearly; a sentence gets the same bits alone or among others; a file comes back, or is
 * refused. */
#include <unistd.h>

#include "base/file.h"
#include "inference/translator.h"
#include "model/quantised.h"
#include "tests/fixtures/random-model.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

enum { V = 61, LONGEST = 48, S = 40 };

static Error error;
static Workers *workers;
static Packed source, target;

static int setup(void **state)
{
    source = random_sentences(S, 20, V, 2);
    target = random_sentences(S, 25, V, 3);
    workers = workers_start(2, &error);
    return workers ? path_make(state) : -1;
}

static int teardown(void **state)
{
    workers_stop(workers);
    free_sentences(source);
    free_sentences(target);
    return path_remove(state);
}

static Transformer make(const Variant *variant, bool prepared, bool int8)
{
    Transformer model = random_variant(variant, V, LONGEST, 5);
    model.weights.logits_bias[ID_END] += 1;
    if (prepared) assert_true(transformer_prepare(&model, int8, &error));
    return model;
}

/* ‖x - y‖ / ‖y‖ */
static double distance(const real *x, const real *y, int count)
{
    double apart = 0, size = 0;
    for (int i = 0; i < count; i++) {
        apart += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        size += (double)y[i] * (double)y[i];
    }
    return sqrt(apart / size);
}

/* A row of a matrix that is prepared as floats is the row of the original. */
static void assert_same_rows(const Transformer *prepared, const Transformer *plain)
{
    real row[2][48];
    for (int o = 0; o < 48; o++)
        assert_memory_equal(
            matrix_row(row[0], &prepared->weights.decoder[1].cross.out.W, o, 48),
            matrix_row(row[1], &plain->weights.decoder[1].cross.out.W, o, 48), sizeof row[0]);
}

/* Whole sentences through every layer, embeddings of all kinds, and the scores at the end. */
static double passes_apart(const Variant *variant, bool int8)
{
    Transformer plain = make(variant, false, int8), prepared = make(variant, true, int8);
    assert_true(prepared.prepared.count > 0);
    if (!int8) assert_same_rows(&prepared, &plain);
    int D = plain.config.d_model, M = target.rows;
    Arena a, b;
    const real *expected = forced_pass(&a, &plain, &source, &target);
    const real *output = forced_pass(&b, &prepared, &source, &target);
    real *z = malloc(sizeof *z * (size_t)(2 * M * (V - 1)));
    matrix_multiply(z, expected, &plain.weights.output, plain.weights.logits_bias, M, V - 1, D);
    matrix_multiply(z + M * (V - 1), output, &prepared.weights.output,
                    prepared.weights.logits_bias, M, V - 1, D);
    double outputs = distance(output, expected, M * D);
    double logits = distance(z + M * (V - 1), z, M * (V - 1));
    print_message("%s: output %.1e, scores %.1e apart\n", variant->name, outputs, logits);
    free(z);
    arena_free(&a), arena_free(&b);
    transformer_free(&plain);
    transformer_free(&prepared);
    return outputs > logits ? outputs : logits;
}

TEST(floats_are_the_same_network)
{
    for (int i = 0; i < VARIANTS; i++) assert_true(passes_apart(&variants[i], false) < 1e-5);
}

/* Rows of 48 and 40 random numbers: half a unit of 127 in each, through five layers. */
TEST(int8_is_nearly_the_same)
{
    for (int i = 0; i < VARIANTS; i++) assert_true(passes_apart(&variants[i], true) < 0.08);
}

static void assert_same(const Translations *a, int s, const Translations *b, int t)
{
    const Hypothesis *x = a->sentence[s].hypothesis, *y = b->sentence[t].hypothesis;
    assert_int_equal(x->length, y->length);
    assert_memory_equal(x->id, y->id, (size_t)x->length * sizeof *x->id);
    assert_true(x->log_probability == y->log_probability);
}

static Translations translate(const Transformer *model, const Packed *sentences, int beam)
{
    SearchConfig config = search_default;
    Translations out;
    config.beam = beam;
    Ensemble ensemble = ensemble_of(model);
    TranslatorInput input = {.source = *sentences};
    if (!translator_run(&out, &ensemble, &input, &config, workers, NULL, &error))
        fail_msg("%s", error.text);
    return out;
}

/* No product depends on which rows are computed together. */
TEST(alone_or_among_others)
{
    for (int i = 0; i < 4 * VARIANTS; i++) {
        Transformer model = make(&variants[i / 4], true, i % 2);
        int beam = i % 4 < 2 ? 1 : 4;
        Translations all = translate(&model, &source, beam);
        for (int s = 0; s < S; s += 3) {
            int start[2] = {0, source.start[s + 1] - source.start[s]};
            Packed one = {1, start[1], source.id + source.start[s], start};
            Translations alone = translate(&model, &one, beam);
            assert_same(&all, s, &alone, 0);
            translations_free(&alone);
        }
        translations_free(&all);
        transformer_free(&model);
    }
}

/* ---- files ---- */

static void save(const Transformer *model)
{
    Checkpoint checkpoint = {.params = &model->params,
                             .weights = model->block,
                             .prepared = &model->prepared,
                             .config = "{}",
                             .tokenizer[1] = "abc",
                             .tokenizer_size[1] = 3};
    if (!checkpoint_save(&checkpoint, path, &error)) fail_msg("%s", error.text);
}

static bool load(Transformer *model, const ModelConfig *config)
{
    CheckpointFile file;
    if (!checkpoint_open(&file, path, NULL, 0, &error)) return false;
    assert_true(checkpoint_has_int8(&file, NULL));
    assert_true(transformer_create(model, config, &error));
    bool good = transformer_read(model, &file, false, &error);
    checkpoint_close(&file);
    if (!good) transformer_free(model);
    return good;
}

TEST(a_file_comes_back)
{
    for (int i = 0; i < VARIANTS; i++) {
        Transformer model = make(&variants[i], true, true), again;
        save(&model);
        if (!load(&again, &model.config)) fail_msg("%s", error.text);
        size_t places = LONGEST * (size_t)model.config.d_model;  // random ones, in no file
        if (model.sinusoids) memcpy(again.sinusoids, model.sinusoids, places * sizeof(real));
        Translations a = translate(&model, &source, 3), b = translate(&again, &source, 3);
        for (int s = 0; s < S; s++) assert_same(&a, s, &b, s);
        translations_free(&a), translations_free(&b);
        size_t size, size_again;  // and saved again it is the same file
        char *bytes = file_read(path, 1 << 24, &size, &error);
        save(&again);
        char *bytes_again = file_read(path, 1 << 24, &size_again, &error);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, bytes_again, size);
        free(bytes), free(bytes_again);

        CheckpointFile file;  // it is not one to train on
        assert_true(checkpoint_open(&file, path, NULL, 0, &error));
        assert_false(checkpoint_fits(&file, &model.params, CHECKPOINT_WEIGHTS, false, &error));
        assert_non_null(strstr(error.text, "has no tensor 'model."));
        checkpoint_close(&file);
        transformer_free(&model);
        transformer_free(&again);
    }
}

/* A file of floats is prepared while it is read, as if it were read first. */
TEST(floats_are_prepared_as_they_are_read)
{
    for (int i = 0; i < 2 * VARIANTS; i++) {
        const Variant *variant = &variants[i / 2];
        Transformer plain = make(variant, false, false), later = make(variant, true, i % 2),
                    read;
        CheckpointFile file;
        save(&plain);
        assert_true(checkpoint_open(&file, path, NULL, 0, &error));
        assert_true(transformer_create(&read, &plain.config, &error));
        if (!transformer_read(&read, &file, i % 2, &error)) fail_msg("%s", error.text);
        checkpoint_close(&file);
        size_t places = LONGEST * (size_t)plain.config.d_model;  // random ones, in no file
        if (later.sinusoids) memcpy(read.sinusoids, later.sinusoids, places * sizeof(real));
        Translations a = translate(&later, &source, 3), b = translate(&read, &source, 3);
        for (int s = 0; s < S; s++) assert_same(&a, s, &b, s);
        translations_free(&a), translations_free(&b);
        transformer_free(&plain), transformer_free(&later), transformer_free(&read);
    }
}

typedef enum { NOTHING, LEAST, NOT_A_NUMBER, NEGATIVE, GONE, TRANSPOSED, RENAMED } Change;

static void apply(Change change, SafeTensor *tensor, void *bytes)
{
    static char name[160];
    int64_t rows = tensor->shape[0];
    switch (change) {
    case NOTHING: break;
    case LEAST: ((int8_t *)bytes)[7] = -128; break;
    case NOT_A_NUMBER: ((float *)bytes)[3] = NAN; break;
    case NEGATIVE: ((float *)bytes)[3] = -1; break;
    case GONE: tensor->name = NULL; break;
    case TRANSPOSED: tensor->shape[0] = tensor->shape[1], tensor->shape[1] = rows; break;
    case RENAMED: snprintf(name, sizeof name, "%s.int8", tensor->name); tensor->name = name;
    }
}

/* Writes the file anew with one tensor changed. */
static void rewrite(const char *name, Change change)
{
    enum { MOST = 200 };
    static SafeTensor tensor[MOST];
    CheckpointFile file;
    int count = 0;
    assert_true(checkpoint_open(&file, path, NULL, 0, &error));
    assert_in_range(file.file.count, 1, MOST);
    for (int i = 0; i < file.file.count; i++) {
        tensor[count] = file.file.tensor[i];
        void *bytes = malloc((size_t)tensor[count].bytes);
        assert_true(safetensors_read(&file.file, &file.file.tensor[i], bytes, &error));
        tensor[count].data = bytes;
        if (!strcmp(tensor[count].name, name)) apply(change, &tensor[count], bytes);
        if (tensor[count].name) count++;
        else free(bytes);
    }
    SafeMetadata metadata[] = {{"format", "qkv"}, {"version", "1"}, {"config", "{}"}};
    assert_true(safetensors_write(path, tensor, count, metadata, 3, &error));
    for (int i = 0; i < count; i++) free((void *)(uintptr_t)tensor[i].data);
    checkpoint_close(&file);
}

TEST(hostile_files_are_refused)
{
    static const struct {
        const char *tensor;
        Change change;
        const char *error;
    } cases[] = {
        {"model.decoder.layers.1.fc1.weight.int8", LEAST, "holds -128 at place 7"},
        {"model.shared.weight.scale", NOT_A_NUMBER, "holds not-a-number at place 3"},
        {"model.shared.weight.scale", NEGATIVE, "holds a negative number at place 3"},
        {"model.shared.weight.scale", GONE, "has no tensor 'model.shared.weight.scale'"},
        {"model.shared.weight.int8", GONE, "has no tensor 'model.shared.weight'"},
        {"model.decoder.layers.1.fc1.weight.int8", TRANSPOSED, "I8 [48,40], but"},
        {"model.decoder.layers.1.fc1.bias", RENAMED, "F32 [40], but"},
        {"model.decoder.layers.1.fc1.bias", GONE, "has no tensor"},
    };
    Transformer model = make(&variants[0], true, true), again;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save(&model);
        rewrite(cases[i].tensor, cases[i].change);
        assert_false(load(&again, &model.config));
        if (!strstr(error.text, cases[i].error)) fail_msg("said: %s", error.text);
    }
    save(&model);
    rewrite("", NOTHING);  // unchanged, it loads
    assert_true(load(&again, &model.config));
    transformer_free(&again);
    transformer_free(&model);
}

TEST_MAIN("quantised", setup, teardown)
