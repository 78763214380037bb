/* bundle.h -- a trained model and its vocabulary, as one: text in, text out. */
#ifndef INFERENCE_BUNDLE_H
#define INFERENCE_BUNDLE_H

#include "base/packed.h"
#include "data/vocabulary.h"
#include "model/transformer.h"

typedef struct Bundle {
    Transformer model;
    Vocabulary vocabulary;
    char *config;    // the checkpoint's, JSON
    int max_length;  // that lines are cut to: the model's, or less
} Bundle;

/* Loads a checkpoint file, or best.safetensors (else last.safetensors) of a run's folder. */
bool bundle_load(Bundle *bundle, const char *path, Error *error);

/* Loads a checkpoint file that is in memory, and not needed afterwards; `name` is for the errors. */
bool bundle_load_bytes(Bundle *bundle, const void *bytes, size_t length, const char *name,
                       Error *error);
void bundle_free(Bundle *bundle);

/* Makes the matrices ready for translating (model/ready.h), rounded to int8 or as they are. Those
 * of a checkpoint that holds int8 are already. */
bool bundle_ready(Bundle *bundle, bool int8, Error *error);

/* Writes a checkpoint with the matrices as int8; they must be ready so. */
bool bundle_save_int8(const Bundle *bundle, const char *path, Error *error);

/* A token that the vocabulary has not. */
typedef struct Unknown {
    int row;
    char *text;  // as it stands in the line, with a space before it if it begins a word
} Unknown;

/* Sentences as ids, packed; grows line by line. {0} when empty. */
typedef struct IdLines {
    Ids ids;
    int *start;  // [count+1]
    int count, size;
    bool find_words;  // set it to have:
    int *word;  // [start[count]] the word of the line that each token is a part of (words.h)
    int words;  // how many the last line has
    bool find_unknown;  // set it to have:
    Unknown *unknown;   // [unknowns] in the order of the rows
    int unknowns, unknown_size;
} IdLines;

/* Adds a line of a side's text, </s> behind it. A line of more than max_length tokens is cut to that, and
 * *cut (if given) says how many tokens it had. */
bool bundle_encode(const Bundle *bundle, CorpusSide side, IdLines *lines, const char *text,
                   size_t length, size_t *cut, Error *error);

Packed idlines_packed(const IdLines *lines);
void idlines_clear(IdLines *lines);
void idlines_free(IdLines *lines);

#endif
