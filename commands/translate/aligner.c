/* aligner.c -- words aligned by the attention of a model; see aligner.h. */
#include "commands/translate/aligner.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

static const char *const STEPS[] = {"best", "writes", "reads", NULL};
static const char *const STEP_NAMES[] = {[STEP_WRITES] = "writes", [STEP_READS] = "reads"};
enum { SETTLED_BY_FILE = 0 };

#define FIELD(name) offsetof(AlignConfig, name)
// clang-format off
const Option align_options[] = {
    {"align", OPTION_FLAG, FIELD(align), 0, 0, NULL, NULL,
     "print which word comes from which: TRANSLATION ||| i-j …, source and target words from 0; "
     "of given translations (--target) the links alone", true},
    {"align-threshold", OPTION_REAL, FIELD(threshold), 0, 1, NULL, "P",
     "link all pairs with at least this share of the attention; 0: each word with the one it "
     "has most of", true},
    {"align-step", OPTION_CHOICE, FIELD(step), 0, 0, STEPS, NULL,
     "the decoder's step that writes a word, or the one that has read it", true},
    {"gold", OPTION_TEXT, FIELD(gold), 0, 0, NULL, "FILE",
     "with --align and --target: the right links, line by line. Prints the alignment error rate of "
     "every layer and head", true},
    {"align-save", OPTION_FLAG, FIELD(save), 0, 0, NULL, NULL,
     "with --gold: keep the best layer and heads in the model's folder, as what --align and "
     "--head best mean", true},
    {"attention-tsv", OPTION_TEXT, FIELD(tsv), 0, 0, NULL, "FILE",
     "write the attention as a table, a line for each two tokens", true},
};
// clang-format on
const int align_option_count = sizeof align_options / sizeof *align_options;

const char *align_layer_name(char text[16], int layer)
{
    if (layer == ALIGN_LAYERS) return "all";
    snprintf(text, 16, "%d", layer + 1);
    return text;
}

const char *align_head_name(char text[16], int head)
{
    if (head == ALIGN_MEAN) return "mean";
    if (head == ALIGN_NORM) return "norm";
    snprintf(text, 16, "%d", head + 1);
    return text;
}

/* ---- alignment.json ---- */

/* Beside the checkpoint, or in the run's folder. */
static bool file_path(char path[PATH_MAX], const char *model, Error *error)
{
    struct stat status;
    char copy[PATH_MAX];
    if (strlen(model) >= sizeof copy)
        return error_set(error, "'%.100s…' is too long a path", model);
    strcpy(copy, model);
    const char *folder =
        stat(model, &status) == 0 && S_ISDIR(status.st_mode) ? model : dirname(copy);
    return snprintf(path, PATH_MAX, "%s/alignment.json", folder) < PATH_MAX ||
           error_set(error, "'%.100s…' is too long a path", model);
}

/* A layer, heads and a step out of the file; they must be ones that the model has. */
static bool take(AlignBy *by, const Json *json, const char *heads_key, const char *path,
                 const ModelConfig *config, Error *error)
{
    const Json *heads = json_member(json, heads_key), *layers = json_member(json, "layer");
    const char *word = json_text(heads), *step = json_text(json_member(json, "step"));
    int64_t layer = json_whole(layers), head = json_whole(heads);
    bool mean = word && !strcmp(word, "mean"), norm = word && !strcmp(word, "norm");
    bool all = json_text(layers) && !strcmp(json_text(layers), "all") && (mean || norm);
    bool reads = step && !strcmp(step, "reads"), writes = step && !strcmp(step, "writes");
    if (!(all || (layer >= 1 && layer <= config->decoder_layers)) || !(reads || writes) ||
        !(mean || norm || (head >= 1 && head <= config->heads)))
        return error_set(error, "%s: its layer, %s and step are not ones that the model has",
                         path, heads_key);
    *by = (AlignBy){all ? ALIGN_LAYERS : (int)layer - 1,
                    mean   ? ALIGN_MEAN
                    : norm ? ALIGN_NORM
                           : (int)head - 1,
                    reads ? STEP_READS : STEP_WRITES};
    return true;
}

/* *found: whether there is such a file. */
static bool read_file(AlignBy *by, AlignBy *head, bool *found, const char *model,
                      const ModelConfig *config, Error *error)
{
    char path[PATH_MAX];
    size_t length;
    *found = false;
    if (!file_path(path, model, error)) return false;
    if (access(path, F_OK) != 0) return true;
    *found = true;
    char *text = file_read(path, 1 << 16, &length, error);
    Json *json = text ? json_parse(text, length, path, error) : NULL;
    bool good = json && take(by, json, "heads", path, config, error) &&
                take(head, json_member(json, "best_head"), "head", path, config, error);
    json_free(json);
    free(text);
    return good;
}

bool align_settle_best(Choice *choice, bool wanted, const char *model,
                       const ModelConfig *config, Error *error)
{
    AlignBy all, head;
    bool found, asked = choice->head == CHOICE_BEST;
    if (choice->kind != ATTENTION_CROSS || (!asked && !wanted)) return true;
    if (!read_file(&all, &head, &found, model, config, error)) return false;
    if (found && (choice->layer < 0 || choice->layer == head.layer))
        choice->layer = head.layer, choice->head = head.head;
    return true;
}

bool align_known_best(Choice *choice, const char *model, const ModelConfig *config,
                      Error *error)
{
    AlignBy all, head;
    bool found;
    if (!read_file(&all, &head, &found, model, config, error)) return false;
    if (found) choice->known_layer = head.layer, choice->known_head = head.head;
    return true;
}

static void put_by(JsonWriter *json, AlignBy by, const char *heads_key, double aer)
{
    char name[16];
    if (by.layer >= 0) json_put_integer(json, "layer", by.layer + 1);
    else json_put_text(json, "layer", align_layer_name(name, by.layer));
    if (by.head >= 0) json_put_integer(json, heads_key, by.head + 1);
    else json_put_text(json, heads_key, align_head_name(name, by.head));
    json_put_text(json, "step", STEP_NAMES[by.step]);
    json_put_real(json, "aer", aer);
}

bool align_save(const char *model, AlignBy by, double aer, AlignBy head, double head_aer,
                Error *error)
{
    char path[PATH_MAX], *text = NULL;
    size_t size = 0;
    if (!file_path(path, model, error)) return false;
    FILE *out = open_memstream(&text, &size);
    if (!out) return error_set(error, "not enough memory to write '%s'", path);
    JsonWriter json = {.out = out, .indent = 2};
    json_open(&json, NULL);
    put_by(&json, by, "heads", aer);
    json_open(&json, "best_head");
    put_by(&json, head, "head", head_aer);
    json_close(&json);
    json_close(&json);
    fputc('\n', out);
    fclose(out);
    bool good = text ? file_replace(path, text, size, error)
                     : error_set(error, "not enough memory to write '%s'", path);
    free(text);
    return good;
}

/* ---- the aligner ---- */

static AlignBy settle(AlignBy by, AlignBy head, const AlignConfig *config, const Choice *choice,
                      int layers)
{
    if (choice->head == CHOICE_BEST) by = head;
    if (choice->layer >= 0) by.layer = choice->layer;
    if (choice->head >= 0) by.head = choice->head;
    if (choice->head == CHOICE_MEAN) by.head = ALIGN_MEAN;
    if (by.head >= 0 && by.layer == ALIGN_LAYERS) by.layer = layers - 1;
    if (config->step != SETTLED_BY_FILE) by.step = (AlignStep)(config->step - 1);
    return by;
}

bool aligner_create(Aligner *aligner, const Bundle *bundle, const char *model,
                    const AlignConfig *config, const Choice *choice, Error *error)
{
    const ModelConfig *shape = &bundle->model.config;
    AlignBy by = {ALIGN_LAYERS, ALIGN_NORM, STEP_WRITES}, head = by;
    bool found;
    *aligner = (Aligner){.bundle = bundle, .threshold = config->threshold};
    if (!read_file(&by, &head, &found, model, shape, error)) return false;
    if (choice->head == CHOICE_MAX)
        return error_set(error,
                         "--align takes a head's number, mean or best as --head, not max");
    if (choice->head == CHOICE_BEST && !found)
        return error_set(error,
                         "which head aligns best is not known: find it with --align --target "
                         "--gold --align-save, or name one, or leave --head out");
    aligner->by = settle(by, head, config, choice, shape->decoder_layers);
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
    int n = snapshot_source(snapshot)->rows, m = snapshot_target(snapshot)->rows;
    a->links.count = 0;
    if (m < 2 || n < 2) return true;
    float *share = realloc(a->share, (size_t)(m - 1) * (size_t)n * sizeof *share);
    if (!share) return error_set(error, "not enough memory to align %d words", m);
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
