/* bundle.h -- a trained model with its vocabulary and configuration, and the models of an
 * ensemble. */
#pragma once

#include "base/json.h"
#include "data/textprofile.h"
#include "data/vocabulary.h"
#include "inference/ensemble.h"
#include "inference/idlines.h"
#include "inference/intervention.h"
#include "model/checkpoint.h"

typedef struct Bundle {
    Transformer model;
    Vocabulary vocabulary;
    TextProfile text;
    Shortlist shortlist;  // list NULL: none
    char *config;         // of the checkpoint, JSON
    json_t *options;      // the same, for bundle_option
    int max_length;       // longest line in tokens, </s> included; the model's, or less
} Bundle;

/* file (=) the checkpoint that `path` means: a file, or best.safetensors (else
 * last.safetensors) of a run's folder, or a folder of MarianMT (marian.h); "toy", if there is no
 * such file: the toy model that comes with qkv (base/file.h). false: there is none. */
bool bundle_find(char *file, size_t size, const char *path, Error *error);

/* Opens the checkpoint, or folder of MarianMT, that bundle_find finds. */
bool bundle_open(CheckpointFile *checkpoint, const char *path, Error *error);

/* How a bundle has its matrices: prepared for inference (model/quantised.h), as they are or
 * quantised to int8; or in model.block: the model can be saved, but cannot translate. */
typedef enum { BUNDLE_FLOAT, BUNDLE_INT8, BUNDLE_ROWS } BundleMatrices;

/* Loads what bundle_open opens. change: made before its matrices are prepared; or NULL */
bool bundle_load(Bundle *bundle, const char *path, BundleMatrices matrices,
                 const Intervention *change, Error *error);

/* The same of a checkpoint file in memory, which may be freed afterwards. Errors name it
 * `name`. */
bool bundle_load_bytes(Bundle *bundle, const void *bytes, size_t length, const char *name,
                       BundleMatrices matrices, Error *error);
void bundle_free(Bundle *bundle);

/* What the checkpoint's configuration says of an option, such as "data", "train_source"; NULL if it
 * says nothing. It belongs to the bundle. */
const json_t *bundle_option(const Bundle *bundle, const char *group, const char *name);

/* code (=) "fr", as the names of the training text's files say; "": they say none. */
void bundle_language(char code[3], const Bundle *bundle, CorpusSide side);

/* The model alone, with its shortlist. */
Ensemble bundle_ensemble(const Bundle *bundle);

/* Writes a checkpoint with int8 matrices. The bundle must have been loaded with int8. */
bool bundle_save_int8(const Bundle *bundle, const char *path, Error *error);

/* Appends a line of text of a side (idlines.h). */
bool bundle_encode(const Bundle *bundle, CorpusSide side, IdLines *lines, const char *text,
                   size_t length, size_t *cut, Error *error);

/* The models of one translation: one, or an ensemble with one vocabulary. */
typedef struct Models {
    Bundle bundle[MAX_MODELS];  // use the vocabulary and max_length of the first
    Ensemble ensemble;          // of all
    Screening screening;        // {0} until models_screen
} Models;

/* Loads each path (bundle_load). The tokenizers must be the same byte for byte, so that an id
 * means the same word in each model. The struct must stay where it is. */
bool models_load(Models *models, const StringList *paths, BundleMatrices matrices,
                 const Intervention *change, Error *error);

/* Makes greedy search without scores faster, if there is one model of floats. */
bool models_screen(Models *models, Error *error);
void models_free(Models *models);  // does nothing for {0}
