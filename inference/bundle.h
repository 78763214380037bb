/* bundle.h -- a trained model and its vocabulary, as one: text in, text out. */
#ifndef INFERENCE_BUNDLE_H
#define INFERENCE_BUNDLE_H

#include "data/vocabulary.h"
#include "inference/idlines.h"
#include "model/transformer.h"

typedef struct Bundle {
    Transformer model;
    Vocabulary vocabulary;
    char *config;    // the checkpoint's, JSON
    int max_length;  // that lines are cut to: the model's, or less
} Bundle;

/* file (=) the checkpoint that `path` means: a file, or best.safetensors (else last.safetensors) of
 * a run's folder. false: there is none. */
bool bundle_find(char *file, size_t size, const char *path, Error *error);

/* Loads a checkpoint file, or best.safetensors (else last.safetensors) of a run's folder. */
bool bundle_load(Bundle *bundle, const char *path, Error *error);

/* Loads a checkpoint file that is in memory, and not needed afterwards; `name` is for the errors. */
bool bundle_load_bytes(Bundle *bundle, const void *bytes, size_t length, const char *name,
                       Error *error);
void bundle_free(Bundle *bundle);

/* Prepares the matrices for translating (model/quantised.h), as int8 or as floats. Those of a
 * quantised checkpoint are prepared already. */
bool bundle_prepare(Bundle *bundle, bool int8, Error *error);

/* Writes a checkpoint with the matrices as int8; they must be prepared so. */
bool bundle_save_int8(const Bundle *bundle, const char *path, Error *error);

/* Appends a line of text of a side (idlines.h). */
bool bundle_encode(const Bundle *bundle, CorpusSide side, IdLines *lines, const char *text,
                   size_t length, size_t *cut, Error *error);

#endif
