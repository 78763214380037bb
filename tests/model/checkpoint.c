/* checkpoint.c -- a model comes back bit for bit; and what does not fit it is named. */
#include "model/checkpoint.h"
#include "base/block.h"
#include "base/file.h"
#include "tests/fixtures/params-find.h"
#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"
#include "tests/fixtures/variants.h"

static const ModelConfig config = {NETWORK(11, 6, 2, 10, 1, 2, 16)};
static Params params;
enum { BLOCKS = 4 };
static const char *const prefixes[BLOCKS] = {CHECKPOINT_WEIGHTS, CHECKPOINT_ADAM_M,
                                             CHECKPOINT_ADAM_V, CHECKPOINT_AVERAGE};
static real *blocks[BLOCKS];
static Error error;
static const unsigned char tokenizer[] = "not really \0 a tokenizer";

static int make(void **state)
{
    if (path_make(state) || !params_table(&params, &config, &error)) return -1;
    for (int i = 0; i < BLOCKS; i++) {
        if (!(blocks[i] = block_zeros(params.size * sizeof(real), &error))) return -1;
        params_initialise(&params, blocks[i], (uint64_t)i);
    }
    for (size_t k = 0; k < params.size; k++) blocks[2][k] = (real)fabs(blocks[2][k]);
    return 0;
}

static int sweep(void **state)
{
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    params_free(&params);
    return path_remove(state);
}

static Checkpoint all_of_it(void)
{
    static CheckpointBlock block[BLOCKS];  // the last stays {0}
    for (int i = 0; i < BLOCKS - 1; i++)
        block[i] = (CheckpointBlock){.prefix = prefixes[i + 1], .at = blocks[i + 1]};
    return (Checkpoint){.params = &params,
                        .weights = blocks[0],
                        .block = block,
                        .config = "{\"model\":{\"d_model\":6}}",
                        .progress = "{\"update\":12}",
                        .text = "{\"characters\":\"abc\"}",
                        .tokenizer[1] = tokenizer,
                        .tokenizer_size[1] = sizeof tokenizer};
}

static void save(const Checkpoint *checkpoint)
{
    if (!checkpoint_save(checkpoint, path, &error)) fail_msg("%s", error.text);
}

static CheckpointFile opened(void)
{
    CheckpointFile file;
    if (!checkpoint_open(&file, path, NULL, 0, &error)) fail_msg("%s", error.text);
    return file;
}

/* The last error; cleared, so that the next check does not see it. */
static void assert_says(const char *part)
{
    if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
    error.text[0] = '\0';
}

static void same_block(const CheckpointFile *file, const char *prefix, const real *expected)
{
    real *block = block_zeros(params.size * sizeof(real), &error);
    assert_true(checkpoint_has(file, prefix));
    assert_true(checkpoint_fits(file, &params, prefix, false, &error));
    if (!checkpoint_read(file, &params, prefix, NULL, block, &error))
        fail_msg("%s", error.text);
    for (int i = 0; i < params.count; i++) {
        const Tensor *tensor = &params.tensor[i];
        for (size_t k = tensor->offset; k < tensor->offset + tensor->count; k++)
            assert_true(block[k] == (float)expected[k]);
    }
    free(block);
}

TEST(everything_comes_back)
{
    Checkpoint checkpoint = all_of_it();
    save(&checkpoint);
    CheckpointFile file = opened();
    assert_string_equal(file.config, checkpoint.config);
    assert_string_equal(file.progress, checkpoint.progress);
    assert_string_equal(file.text, checkpoint.text);
    assert_int_equal(file.tokenizer_size[1], sizeof tokenizer);
    assert_memory_equal(file.tokenizer[1], tokenizer, sizeof tokenizer);
    for (int i = 0; i < BLOCKS; i++) same_block(&file, prefixes[i], blocks[i]);
    checkpoint_close(&file);

    size_t size, size_again;  // and the same state makes the same file
    char *bytes = file_read(path, 1 << 24, &size, &error);
    save(&checkpoint);
    char *again = file_read(path, 1 << 24, &size_again, &error);
    assert_int_equal(size, size_again);
    assert_memory_equal(bytes, again, size);
    free(bytes), free(again);
}

TEST(the_optional_may_be_missing)
{
    Checkpoint checkpoint = all_of_it();
    checkpoint.block = NULL;
    checkpoint.progress = checkpoint.text = NULL;
    save(&checkpoint);
    CheckpointFile file = opened();
    assert_null(file.progress);
    assert_null(file.text);
    assert_false(checkpoint_has(&file, CHECKPOINT_ADAM_M));
    same_block(&file, CHECKPOINT_WEIGHTS, blocks[0]);
    assert_false(checkpoint_fits(&file, &params, CHECKPOINT_ADAM_M, false, &error));
    assert_says("has no tensor 'adam.m.model.shared.weight', which should be F32 [11,6]");
    checkpoint_close(&file);
}

/* Saves a variant of the network as what json says. */
static void save_variant(const Params *table, const real *block, const char *json)
{
    Checkpoint checkpoint = all_of_it();
    checkpoint.params = table, checkpoint.weights = block, checkpoint.config = json;
    checkpoint.block = NULL;
    save(&checkpoint);
}

/* Every variant of the network comes back, its configuration too. */
TEST(variants_come_back)
{
    for (int i = 0; i < VARIANTS; i++) {
        ModelConfig was = variant_config(config, &variants[i]);
        ModelConfig is = {.vocab = was.vocab, .source_vocab = was.source_vocab};  // not in JSON
        OptionGroup group = {"The model", "model", model_options, model_option_count, &was};
        Params table;
        assert_true(params_table(&table, &was, &error));
        real *saved = block_zeros(table.size * sizeof(real), &error),
             *read = block_zeros(table.size * sizeof(real), &error);
        char *json = options_to_json(&group, 1, false);
        params_initialise(&table, saved, 7);
        save_variant(&table, saved, json);

        CheckpointFile file = opened();
        group.values = &is;
        assert_true(options_from_json(&group, 1, file.config, path, false, &error));
        char *again = options_to_json(&group, 1, false);
        assert_string_equal(again, json);
        assert_true(checkpoint_read(&file, &table, "", NULL, read, &error));
        assert_memory_equal(read, saved, table.size * sizeof *read);
        checkpoint_close(&file);
        free(saved), free(read), free(json), free(again);
        params_free(&table);
    }
}

/* A file that does not fit the network says what is missing, or has another shape. */
TEST(another_network_is_told_apart)
{
    static const struct {
        int ffn, encoder_layers, norm, positions, tying;
        const char *error;
    } cases[] = {
        {12, 1, 0, 0, 0,
         "tensor 'model.encoder.layers.0.fc1.weight' is F32 [10,6], but the configuration "
         "makes it F32 [12,6]"},
        {10, 2, 0, 0, 0, "has no tensor 'model.encoder.layers.1.self_attn.q_proj.weight'"},
        {10, 1, NORM_PRE, 0, 0, "has no tensor 'model.encoder.layer_norm.weight'"},
        {10, 1, 0, POSITIONS_LEARNED, 0,
         "has no tensor 'model.encoder.embed_positions.weight'"},
        {10, 1, 0, 0, TYING_DECODER, "has no tensor 'model.encoder.embed_tokens.weight'"},
        {10, 1, 0, 0, TYING_NONE, "has no tensor 'model.encoder.embed_tokens.weight'"},
    };
    save_variant(&params, blocks[0], "{}");
    CheckpointFile file = opened();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Params table;
        ModelConfig other = config;
        other.ffn = cases[i].ffn, other.encoder_layers = cases[i].encoder_layers;
        other.norm = cases[i].norm, other.positions = cases[i].positions;
        other.tying = cases[i].tying;
        assert_true(params_table(&table, &other, &error));
        real *block = block_zeros(table.size * sizeof(real), &error);
        assert_false(checkpoint_fits(&file, &table, "", false, &error));
        assert_says(cases[i].error);
        assert_false(checkpoint_read(&file, &table, "", NULL, block, &error));
        assert_says("tensor 'model.");
        free(block);
        params_free(&table);
    }
    checkpoint_close(&file);
}

TEST(numbers_must_be_finite)
{
    Checkpoint checkpoint = all_of_it();
    const Tensor *tensor = params_find(&params, "model.decoder.layers.1.fc2.bias");
    real *block = block_zeros(params.size * sizeof(real), &error),
         *number = &blocks[0][tensor->offset + 2];
    real kept = *number;
    static const struct {
        real number;
        const char *error;
    } cases[] = {{NAN, "fc2.bias' holds not-a-number at place 2"},
                 {INFINITY, "fc2.bias' holds infinity at place 2"}};
    for (int i = 0; i < 2; i++) {
        *number = cases[i].number;
        save(&checkpoint);
        CheckpointFile file = opened();
        assert_false(checkpoint_read(&file, &params, "", NULL, block, &error));
        assert_says(cases[i].error);
        checkpoint_close(&file);
    }
    *number = kept;

    number = &blocks[2][tensor->offset + 2], kept = *number;
    *number = -1e-9f;
    save(&checkpoint);
    CheckpointFile file = opened();
    assert_false(checkpoint_read(&file, &params, CHECKPOINT_ADAM_V, NULL, block, &error));
    assert_says("'adam.v.model.decoder.layers.1.fc2.bias' holds a negative number at place 2");
    checkpoint_close(&file);
    *number = kept;
    free(block);
}

/* Other safetensors files, and later versions of this one. */
TEST(strangers_are_refused)
{
    static const SafeTensor good = {
        .name = "tokenizer", .dtype = DTYPE_U8, .dimensions = 1, .shape = {3}, .data = "abc"};
    static const SafeTensor typed = {
        .name = "tokenizer", .dtype = DTYPE_I8, .dimensions = 1, .shape = {3}, .data = "abc"};
    static const SafeTensor empty = {
        .name = "tokenizer", .dtype = DTYPE_U8, .dimensions = 1, .data = "abc"};
    static const struct {
        const char *format, *version, *config;  // NULL: missing
        const SafeTensor *tensor;
        const char *error;
    } cases[] = {
        {"qkv", "1", "{}", &good, NULL},
        {"pt", "1", "{}", &good, "no checkpoint of"},
        {"qkv", "1", NULL, &good, "no checkpoint of"},
        {"qkv", NULL, "{}", &good, "no checkpoint of"},
        {"qkv", "2", "{}", &good, "has version '2' of the format"},
        {"qkv", "1", "{}", &typed, "has no tokenizer"},
        {"qkv", "1", "{}", &empty, "has no tokenizer"},
        {"qkv", "1", "{}", NULL, "has no tokenizer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CheckpointFile file;
        SafeMetadata metadata[3] = {{"format", cases[i].format}};
        int count = 1;
        if (cases[i].version) metadata[count++] = (SafeMetadata){"version", cases[i].version};
        if (cases[i].config) metadata[count++] = (SafeMetadata){"config", cases[i].config};
        assert_true(safetensors_write(path, cases[i].tensor, cases[i].tensor ? 1 : 0, metadata,
                                      count, &error));
        bool opened = checkpoint_open(&file, path, NULL, 0, &error);
        assert_int_equal(opened, !cases[i].error);
        if (opened) checkpoint_close(&file);
        else assert_says(cases[i].error);
    }
}

TEST_MAIN("checkpoint", make, sweep)
