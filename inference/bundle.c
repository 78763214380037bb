/* bundle.c -- a trained model and its vocabulary; see bundle.h. */
#include "inference/bundle.h"

#include "commands/command.h"
#include "data/words.h"
#include "model/checkpoint.h"
#include "model/ready.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The checkpoint that `path` means. */
static bool find(char *file, size_t size, const char *path, Error *error)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return error_set(error,
                         "no model at '%s': %s makes one (in checkpoints/toy, if not "
                         "told otherwise), and --model names another",
                         path, command_train());
    if (!S_ISDIR(about.st_mode)) {
        snprintf(file, size, "%s", path);
        return true;
    }
    const char *const names[] = {"best.safetensors", "last.safetensors"};
    for (int i = 0; i < 2; i++) {
        snprintf(file, size, "%s/%s", path, names[i]);
        if (access(file, F_OK) == 0) return true;
    }
    return error_set(error,
                     "no model in '%s' (neither best.safetensors nor last.safetensors): "
                     "%s makes one, and --model names another",
                     path, command_train());
}

/* The network that a checkpoint describes, with its weights. */
static bool read_model(Transformer *model, const CheckpointFile *checkpoint,
                       const Vocabulary *vocabulary, const char *path, Error *error)
{
    ModelConfig config = {.vocab = tokenizer_vocab_size(vocabulary->tokenizer[TARGET])};
    if (!vocabulary_is_joint(vocabulary))
        config.source_vocab = tokenizer_vocab_size(vocabulary->tokenizer[SOURCE]);
    const OptionGroup group = {"The model", "model", model_options, model_option_count,
                               &config};
    Params params;
    if (!options_from_json(&group, 1, checkpoint->config, path, true, error)) return false;
    if (!config.d_model || !config.heads || !config.encoder_layers || !config.decoder_layers ||
        !config.ffn || !config.max_length)
        return error_set(error,
                         "'%s' does not say the shape of its model: it is not a "
                         "checkpoint of qkv",
                         path);
    if (!config_check(&config, error)) return error_prefix(error, "%s", path);
    if (!params_table(&params, &config, error)) return false;
    bool rounded = checkpoint_is_rounded(checkpoint, NULL);
    bool fits = rounded ? checkpoint_fits_rounded(checkpoint, &params, error)
                        : checkpoint_fits(checkpoint, &params, CHECKPOINT_WEIGHTS, error);
    params_free(&params);
    if (!fits || !transformer_create(model, &config, error)) return false;
    if (rounded ? transformer_read_rounded(model, checkpoint, error)
                : checkpoint_read(checkpoint, &model->params, CHECKPOINT_WEIGHTS, model->block,
                                  error))
        return true;
    transformer_free(model);
    return false;
}

static bool read_vocabulary(Vocabulary *vocabulary, const CheckpointFile *checkpoint,
                            Error *error)
{
    const void *const model[SIDES] = {checkpoint->source_tokenizer, checkpoint->tokenizer};
    const size_t size[SIDES] = {checkpoint->source_tokenizer_size, checkpoint->tokenizer_size};
    return vocabulary_copy(vocabulary, model, size, error) &&
           vocabulary_load(vocabulary, error);
}

/* Closes the checkpoint. */
static bool load(Bundle *bundle, CheckpointFile *checkpoint, Error *error)
{
    const char *name = checkpoint->file.path;
    bool good = read_vocabulary(&bundle->vocabulary, checkpoint, error) ||
                error_prefix(error, "%s", name);
    good = good && read_model(&bundle->model, checkpoint, &bundle->vocabulary, name, error);
    if (good && !(bundle->config = strdup(checkpoint->config)))
        good = error_set(error, "not enough memory for the configuration of '%s'", name);
    checkpoint_close(checkpoint);
    bundle->max_length = bundle->model.config.max_length;
    if (!good) bundle_free(bundle);
    return good;
}

bool bundle_load(Bundle *bundle, const char *path, Error *error)
{
    char file[PATH_MAX + 32];
    CheckpointFile checkpoint;
    *bundle = (Bundle){0};
    return find(file, sizeof file, path, error) && checkpoint_open(&checkpoint, file, error) &&
           load(bundle, &checkpoint, error);
}

bool bundle_load_bytes(Bundle *bundle, const void *bytes, size_t length, const char *name,
                       Error *error)
{
    CheckpointFile checkpoint;
    *bundle = (Bundle){0};
    return checkpoint_open_bytes(&checkpoint, bytes, length, name, error) &&
           load(bundle, &checkpoint, error);
}

void bundle_free(Bundle *bundle)
{
    transformer_free(&bundle->model);
    vocabulary_free(&bundle->vocabulary);
    free(bundle->config);
    *bundle = (Bundle){0};
}

bool bundle_ready(Bundle *bundle, bool int8, Error *error)
{
    return bundle->model.ready ||
           transformer_ready(&bundle->model, int8 ? MATRIX_INT8 : MATRIX_FLOAT, error);
}

bool bundle_save_int8(const Bundle *bundle, const char *path, Error *error)
{
    const Vocabulary *vocabulary = &bundle->vocabulary;
    Checkpoint checkpoint = {.params = &bundle->model.params,
                             .weights = bundle->model.block,
                             .rounded = bundle->model.ready,
                             .config = bundle->config,
                             .tokenizer = vocabulary->model[TARGET],
                             .tokenizer_size = vocabulary->size[TARGET],
                             .source_tokenizer = vocabulary->model[SOURCE],
                             .source_tokenizer_size = vocabulary->size[SOURCE]};
    return checkpoint_save(&checkpoint, path, error);
}

static bool begin_line(IdLines *lines, Error *error)
{
    if (lines->count + 1 >= lines->size) {
        int size = lines->size ? 2 * lines->size : 64;
        int *start = realloc(lines->start, (size_t)size * sizeof *start);
        if (!start) return error_set(error, "not enough memory for %d lines", lines->count);
        lines->start = start;
        lines->size = size;
        lines->start[0] = 0;
    }
    return true;
}

static bool end_line(IdLines *lines, Error *error)
{
    Ids *ids = &lines->ids;
    if (ids->count == ids->size) {
        size_t size = ids->size + 64;
        int32_t *id = realloc(ids->id, size * sizeof *id);
        if (!id) return error_set(error, "not enough memory for %d lines", lines->count);
        ids->id = id;
        ids->size = size;
    }
    ids->id[ids->count++] = ID_END;
    if (ids->count > INT_MAX) return error_set(error, "too much text at once");
    lines->start[++lines->count] = (int)ids->count;
    return true;
}

/* The words of the line's tokens that were kept. */
static bool add_words(const Tokenizer *tokenizer, IdLines *lines, const char *text,
                      size_t length, Error *error)
{
    size_t first = (size_t)lines->start[lines->count], count = lines->ids.count;
    int *word = realloc(lines->word, (count + 1) * sizeof *word);
    if (!word) return error_set(error, "not enough memory for %d lines", lines->count);
    lines->word = word;
    word[count] = -1;  // of </s>
    return words_of_text(word + first, &lines->words, tokenizer, text, length,
                         (int)(count - first), error);
}

/* A list with room for one more. */
static bool grow_unknown(IdLines *lines, Error *error)
{
    if (lines->unknowns < lines->unknown_size) return true;
    int size = 2 * lines->unknown_size + 16;
    Unknown *unknown = realloc(lines->unknown, (size_t)size * sizeof *unknown);
    if (!unknown) return error_set(error, "not enough memory for %d unknown words", size);
    lines->unknown = unknown;
    lines->unknown_size = size;
    return true;
}

/* What token `row` of the line is, from byte `begin` to `end` of its text. */
static bool add_unknown(const Tokenizer *tokenizer, IdLines *lines, int row, const char *text,
                        size_t begin, size_t end, Error *error)
{
    bool word = begin == 0 || tokenizer_type(tokenizer) == TOKENIZER_WORD;
    for (; begin < end && (text[begin] == ' ' || text[begin] == '\t'); begin++) word = true;
    while (end > begin && (text[end - 1] == ' ' || text[end - 1] == '\t')) end--;
    size_t size = end - begin + 2;
    char *copy = grow_unknown(lines, error) ? malloc(size) : NULL;
    if (!copy) return error_set(error, "not enough memory for an unknown word");
    snprintf(copy, size, "%s%.*s", word ? " " : "", (int)(end - begin), text + begin);
    lines->unknown[lines->unknowns++] = (Unknown){row, copy};
    return true;
}

/* The unknown ones of the line's tokens that were kept. */
static bool find_unknown(const Tokenizer *tokenizer, IdLines *lines, const char *text,
                         size_t length, Error *error)
{
    size_t first = (size_t)lines->start[lines->count], count = lines->ids.count;
    size_t t = first;
    while (t < count && lines->ids.id[t] != ID_UNKNOWN) t++;
    if (t == count) return true;
    Ids begin = {0};
    bool good = tokenizer_begins(tokenizer, &begin, text, length, error);
    for (; good && t < count; t++) {
        if (lines->ids.id[t] != ID_UNKNOWN) continue;
        size_t from = (size_t)begin.id[t - first];
        size_t to = t - first + 1 < begin.count ? (size_t)begin.id[t - first + 1] : length;
        good = add_unknown(tokenizer, lines, (int)t, text, from, to, error);
    }
    free(begin.id);
    return good;
}

bool bundle_encode(const Bundle *bundle, CorpusSide side, IdLines *lines, const char *text,
                   size_t length, size_t *cut, Error *error)
{
    if (!begin_line(lines, error)) return false;
    size_t first = lines->ids.count, most = (size_t)bundle->max_length - 1;
    if (!tokenizer_encode(bundle->vocabulary.tokenizer[side], &lines->ids, text, length, error))
        return false;
    size_t tokens = lines->ids.count - first;
    if (cut) *cut = tokens > most ? tokens : 0;
    if (tokens > most) lines->ids.count = first + most;
    if (lines->find_words &&
        !add_words(bundle->vocabulary.tokenizer[side], lines, text, length, error))
        return false;
    if (lines->find_unknown &&
        !find_unknown(bundle->vocabulary.tokenizer[side], lines, text, length, error))
        return false;
    return end_line(lines, error);
}

Packed idlines_packed(const IdLines *lines)
{
    return (Packed){lines->count, lines->start[lines->count], lines->ids.id, lines->start};
}

void idlines_clear(IdLines *lines)
{
    lines->ids.count = 0;
    lines->count = 0;
    while (lines->unknowns) free(lines->unknown[--lines->unknowns].text);
}

void idlines_free(IdLines *lines)
{
    idlines_clear(lines);
    free(lines->ids.id);
    free(lines->start);
    free(lines->word);
    free(lines->unknown);
    *lines = (IdLines){0};
}
