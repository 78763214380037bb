/* bundle.c -- loads and saves checkpoints for inference; see bundle.h. */
#include "inference/bundle.h"

#include "base/file.h"
#include "inference/marian.h"
#include "model/quantised.h"

#include <sys/stat.h>

bool bundle_find(char *file, size_t size, const char *path, Error *error)
{
    const char *const names[] = {"best.safetensors", "last.safetensors"};
    struct stat about;
    bool exists;
    if (!file_exists(&exists, path, error)) return false;
    if (!exists)
        return (!strcmp(path, "toy") && file_of_toy(file, size, "model.safetensors")) ||
               error_set(error, "no model at '%s'", path);
    if (stat(path, &about) || !S_ISDIR(about.st_mode))
        return snprintf(file, size, "%s", path), true;
    for (int i = 0; i < 2; i++) {
        snprintf(file, size, "%s/%s", path, names[i]);
        if (!file_exists(&exists, file, error)) return false;
        if (exists) return true;
    }
    if (marian_is_folder(path)) return snprintf(file, size, "%s", path), true;
    return error_set(error, "no model in '%s' (neither %s nor %s)", path, names[0], names[1]);
}

bool bundle_open(CheckpointFile *checkpoint, const char *path, Error *error)
{
    char file[PATH_MAX + 32];
    struct stat about;
    if (!bundle_find(file, sizeof file, path, error)) return false;
    return stat(file, &about) == 0 && S_ISDIR(about.st_mode)
               ? marian_open(checkpoint, file, error)
               : checkpoint_open(checkpoint, file, NULL, 0, error);
}

/* Creates the network that a checkpoint describes, and reads its weights: prepared, or if they
 * will be changed and are floats, as rows. */
static bool read_model(Transformer *model, const CheckpointFile *checkpoint,
                       const Vocabulary *vocabulary, bool int8, bool changed, const char *path,
                       Error *error)
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
        return error_set(
            error, "'%s' has no model configuration: it is not a checkpoint of qkv", path);
    if (!config_check(&config, error)) return error_prefix(error, "%s", path);
    if (!params_table(&params, &config, error)) return false;
    bool fits = checkpoint_fits(checkpoint, &params, CHECKPOINT_WEIGHTS, true, error);
    params_free(&params);
    if (!fits || !transformer_create(model, &config, error)) return false;
    if (changed && !checkpoint_has_int8(checkpoint, NULL)
            ? checkpoint_read(checkpoint, &model->params, CHECKPOINT_WEIGHTS, NULL,
                              model->block, error)
            : transformer_read(model, checkpoint, int8, error))
        return true;
    transformer_free(model);
    return false;
}

/* Fills the bundle and closes the checkpoint. */
static bool load(Bundle *bundle, CheckpointFile *checkpoint, BundleMatrices matrices,
                 const Intervention *change, Error *error)
{
    bool int8 = matrices == BUNDLE_INT8, prepare = matrices != BUNDLE_ROWS;
    const char *name = checkpoint->file.path;
    Transformer *model = &bundle->model;
    Vocabulary *vocabulary = &bundle->vocabulary;
    bool good = vocabulary_copy(vocabulary, (const void *const *)checkpoint->tokenizer,
                                checkpoint->tokenizer_size, error) &&
                vocabulary_load(vocabulary, error);
    good = (good || error_prefix(error, "%s", name)) &&
           read_model(model, checkpoint, vocabulary, int8, !prepare || (change && change->any),
                      name, error) &&
           (!change || intervention_apply(change, model, error) ||
            error_prefix(error, "%s", name)) &&
           textprofile_from_json(&bundle->text, checkpoint->text, name, error) &&
           (shortlist_open(&bundle->shortlist, checkpoint->shortlist,
                           checkpoint->shortlist_count, &model->config, error) ||
            error_prefix(error, "%s", name)) &&
           ((bundle->config = strdup(checkpoint->config)) ||
            error_memory(error, "for the configuration of '%s'", name)) &&
           (bundle->options = json_parse(bundle->config, strlen(bundle->config), name, error));
    if (bundle->shortlist.list) checkpoint->shortlist = NULL;
    checkpoint_close(checkpoint);
    good =
        good && (!prepare || model->prepared.count || transformer_prepare(model, int8, error));
    bundle->max_length = model->config.max_length;
    if (!good) bundle_free(bundle);
    return good;
}

bool bundle_load(Bundle *bundle, const char *path, BundleMatrices matrices,
                 const Intervention *change, Error *error)
{
    CheckpointFile checkpoint;
    *bundle = (Bundle){0};
    return bundle_open(&checkpoint, path, error) &&
           load(bundle, &checkpoint, matrices, change, error);
}

bool bundle_load_bytes(Bundle *bundle, const void *bytes, size_t length, const char *name,
                       BundleMatrices matrices, Error *error)
{
    CheckpointFile checkpoint;
    *bundle = (Bundle){0};
    return checkpoint_open(&checkpoint, name, bytes, length, error) &&
           load(bundle, &checkpoint, matrices, NULL, error);
}

void bundle_free(Bundle *bundle)
{
    transformer_free(&bundle->model);
    vocabulary_free(&bundle->vocabulary);
    textprofile_free(&bundle->text);
    shortlist_free(&bundle->shortlist);
    free(bundle->config);
    json_decref(bundle->options);
    *bundle = (Bundle){0};
}

const json_t *bundle_option(const Bundle *bundle, const char *group, const char *name)
{
    return json_object_get(json_object_get(bundle->options, group), name);
}

void bundle_language(char code[3], const Bundle *bundle, CorpusSide side)
{
    const char *name = side == SOURCE ? "train_source" : "train_target";
    const json_t *files = bundle_option(bundle, "data", name);
    const char *file = json_string_value(json_array_get(files, 0));
    textprofile_language(code, file ? file : "");
}

Ensemble bundle_ensemble(const Bundle *bundle)
{
    Ensemble ensemble = ensemble_of(&bundle->model);
    if (bundle->shortlist.list) ensemble.shortlist = &bundle->shortlist;
    return ensemble;
}

bool bundle_save_int8(const Bundle *bundle, const char *path, Error *error)
{
    const Vocabulary *vocabulary = &bundle->vocabulary;
    char *text = bundle->text.known ? textprofile_to_json(&bundle->text) : NULL;
    Checkpoint checkpoint = {
        .params = &bundle->model.params,
        .weights = bundle->model.block,
        .prepared = &bundle->model.prepared,
        .config = bundle->config,
        .text = text,
        .tokenizer = {vocabulary->model[SOURCE], vocabulary->model[TARGET]},
        .tokenizer_size = {vocabulary->size[SOURCE], vocabulary->size[TARGET]},
        .shortlist = bundle->shortlist.list,
        .shortlist_count = bundle->shortlist.count};
    bool good = (text || !bundle->text.known || error_memory(error, "to save '%s'", path)) &&
                checkpoint_save(&checkpoint, path, error);
    free(text);
    return good;
}

bool bundle_encode(const Bundle *bundle, CorpusSide side, IdLines *lines, const char *text,
                   size_t length, size_t *cut, Error *error)
{
    return idlines_add(lines, bundle->vocabulary.tokenizer[side], bundle->max_length, text,
                       length, cut, error);
}

/* ---- the models of an ensemble ---- */

bool models_load(Models *models, const StringList *paths, BundleMatrices matrices,
                 const Intervention *change, Error *error)
{
    *models = (Models){0};
    for (int m = 0; m < paths->count; m++) {
        Bundle *bundle = &models->bundle[m];
        if (m == MAX_MODELS)
            return error_set(error, "more than %d models cannot translate together",
                             MAX_MODELS);
        if (!bundle_load(bundle, paths->item[m], matrices, change, error)) return false;
        if (!vocabulary_equal(&models->bundle[0].vocabulary, &bundle->vocabulary))
            return error_set(error,
                             "'%s' and '%s' have different tokenizers: models that "
                             "translate together must have one vocabulary",
                             paths->item[0], paths->item[m]);
        if (m == 0) models->ensemble = bundle_ensemble(bundle);
        else models->ensemble.model[models->ensemble.count++] = &bundle->model;
    }
    models->bundle[0].max_length = ensemble_config(&models->ensemble).max_length;
    return true;
}

bool models_screen(Models *models, Error *error)
{
    const Transformer *model = models->ensemble.model[0];
    if (models->ensemble.count > 1 || !(model->weights.output.mode & PANELS)) return true;
    models->ensemble.screening = &models->screening;
    return screening_open(&models->screening, model, error);
}

void models_free(Models *models)
{
    screening_close(&models->screening);
    for (int m = 0; m < MAX_MODELS; m++) bundle_free(&models->bundle[m]);
    *models = (Models){0};
}
