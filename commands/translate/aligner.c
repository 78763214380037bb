/* aligner.c -- aligns words by the attention of a model; see aligner.h. */
#include "commands/translate/aligner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/textstream.h"
#include "inference/bundle.h"

static const char *const STEPS[] = {"best", "writes", "reads", NULL};
enum { STEP_SAVED = 0 };  // the others are an AlignStep + 1

#define FIELD(name) offsetof(AlignConfig, name)
// clang-format off
const Option align_options[] = {
    {"align", OPTION_FLAG, FIELD(align), 0, 0, NULL, NULL,
     "print the word alignment: TRANSLATION ||| i-j …, source and target words counted from 0; with "
     "--target only the links", OPTION_COMMON},
    {"align-threshold", OPTION_REAL, FIELD(threshold), 0, 1, NULL, "P",
     "link all pairs with at least this share of the attention; 0: link each word with the one of "
     "the largest share", OPTION_EXPERT},
    {"align-step", OPTION_CHOICE, FIELD(step), 0, 0, STEPS, NULL,
     "the decoder step that writes a word, or the next one, which reads it; best: as saved by "
     "--align-save", OPTION_EXPERT},
    {"gold", OPTION_TEXT, FIELD(gold), 0, 0, NULL, "FILE",
     "with --align and --target: the gold links, line by line. Prints the alignment error rate of "
     "every layer and head", OPTION_EXPERT},
    {"align-save", OPTION_FLAG, FIELD(save), 0, 0, NULL, NULL,
     "with --gold: save the best layer and heads in the model's folder, for --align and --head best",
     OPTION_EXPERT},
    {"attention-tsv", OPTION_TEXT, FIELD(tsv), 0, 0, NULL, "FILE",
     "write the attention weights as a table, one line for each pair of tokens", 0},
};
// clang-format on
const int align_option_count = sizeof align_options / sizeof *align_options;

const char *align_name(char text[16], int place)
{
    static const char *const names[] = {"mean", "norm", "all"};
    if (place < 0) return names[-1 - place];
    snprintf(text, 16, "%d", place + 1);
    return text;
}

/* ---- alignment.json ---- */

/* Beside the checkpoint. */
static bool file_path(char path[PATH_MAX], const char *model, Error *error)
{
    static const char name[] = "alignment.json";
    if (!bundle_find(path, PATH_MAX - sizeof name, model, error)) return false;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, name);
    return true;
}

/* by (=) the layer, heads and step of an object of the file, if the model has them. */
static bool take(AlignBy *by, const json_t *json, const char *heads_key, const char *path,
                 const ModelConfig *config, Error *error)
{
    const json_t *heads = json_object_get(json, heads_key),
                 *layers = json_object_get(json, "layer");
    const char *word = json_string_value(heads),
               *step = json_string_value(json_object_get(json, "step"));
    int64_t layer = json_integer_value(layers), head = json_integer_value(heads);
    bool mean = word && !strcmp(word, "mean"), norm = word && !strcmp(word, "norm");
    bool all = json_string_value(layers) && !strcmp(json_string_value(layers), "all") &&
               (mean || norm);
    bool reads = step && !strcmp(step, "reads"), writes = step && !strcmp(step, "writes");
    if (!(all || (layer >= 1 && layer <= config->decoder_layers)) || !(reads || writes) ||
        !(mean || norm || (head >= 1 && head <= config->heads)))
        return error_set(error, "%s: its layer, %s and step are not ones that the model has",
                         path, heads_key);
    by->layer = all ? ALIGN_LAYERS : (int)layer - 1;
    by->head = mean ? ALIGN_MEAN : norm ? ALIGN_NORM : (int)head - 1;
    by->step = reads ? STEP_READS : STEP_WRITES;
    return true;
}

bool alignment_load(SavedAlignment *saved, const char *model, const ModelConfig *config,
                    const char *options, Error *error)
{
    char path[PATH_MAX];
    size_t length;
    AlignBy by = {ALIGN_LAYERS, ALIGN_NORM, STEP_WRITES, 0};
    json_t *all = json_parse(options, strlen(options), model, error),
           *training = json_object_get(all, "training");
    bool guided = json_number_value(json_object_get(training, "guide_alignment")) > 0;
    json_decref(all);
    if (!all || !file_path(path, model, error)) return false;
    if (guided) by = (AlignBy){config->decoder_layers - 1, 0, STEP_WRITES, 0};
    *saved = (SavedAlignment){guided, by, by};
    if (access(path, F_OK) != 0) return true;
    saved->found = true;
    char *text = file_read(path, 1 << 16, &length, error);
    json_t *json = text ? json_parse(text, length, path, error) : NULL;
    bool good = json && take(&saved->best, json, "heads", path, config, error) &&
                take(&saved->best_head, json_object_get(json, "best_head"), "head", path,
                     config, error);
    json_decref(json);
    free(text);
    return good;
}

static void put_by(JsonWriter *json, const AlignBy *by, const char *heads_key)
{
    char name[16];
    if (by->layer >= 0) json_put_integer(json, "layer", by->layer + 1);
    else json_put_text(json, "layer", align_name(name, by->layer));
    if (by->head >= 0) json_put_integer(json, heads_key, by->head + 1);
    else json_put_text(json, heads_key, align_name(name, by->head));
    json_put_text(json, "step", STEPS[by->step + 1]);
    json_put_real(json, "aer", by->aer);
}

bool alignment_save(const SavedAlignment *saved, const char *model, Error *error)
{
    char path[PATH_MAX];
    TextStream stream;
    if (!file_path(path, model, error)) return false;
    JsonWriter json = {.out = textstream_open(&stream), .indent = 2, .lines = true};
    if (!json.out) return error_memory(error, "to write '%s'", path);
    json_open(&json, NULL);
    put_by(&json, &saved->best, "heads");
    json_open(&json, "best_head");
    put_by(&json, &saved->best_head, "head");
    json_close(&json);
    json_close(&json);
    return file_replace_text(path, textstream_close(&stream), error);
}

/* ---- the aligner ---- */

bool aligner_create(Aligner *aligner, const AlignConfig *config, const SavedAlignment *saved,
                    const Choice *choice, int layers, Error *error)
{
    AlignBy *by = &aligner->by;
    *aligner = (Aligner){.by = saved->best, .threshold = config->threshold};
    if (choice->head == CHOICE_BEST && !saved->found)
        return error_set(error,
                         "which head aligns best is not known: find it with `align` `target` "
                         "`gold` `align-save`, or name one, or leave out `head`");
    if (choice->head == CHOICE_BEST) *by = saved->best_head;
    if (choice->layer >= 0) by->layer = choice->layer;
    if (choice->head >= 0) by->head = choice->head;
    if (choice->head == CHOICE_MEAN) by->head = ALIGN_MEAN;
    if (by->head >= 0 && by->layer == ALIGN_LAYERS) by->layer = layers - 1;
    if (config->step != STEP_SAVED) by->step = (AlignStep)(config->step - 1);
    return true;
}

void aligner_free(Aligner *aligner)
{
    links_free(&aligner->links);
    free(aligner->share);
    *aligner = (Aligner){0};
}

bool aligner_link(Aligner *a, const Snapshot *snapshot, const int *source_word,
                  const int *target_word, Error *error)
{
    int n = snapshot->source.rows, m = snapshot->target.rows;
    a->links.count = 0;
    if (m < 2 || n < 2) return true;
    float *share = realloc(a->share, (size_t)(m - 1) * (size_t)n * sizeof *share);
    if (!share) return error_memory(error, "to align %d words", m);
    a->share = share;
    return align_shares(share, snapshot, a->by.layer, a->by.head, a->by.step, error) &&
           align_links(&a->links, share, m - 1, n - 1, target_word, source_word, a->threshold,
                       error);
}

void links_print(FILE *out, const Links *links)
{
    for (int k = 0; k < links->count; k++)
        fprintf(out, "%s%d-%d", k ? " " : "", links->link[k].source, links->link[k].target);
}
