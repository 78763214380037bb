/* picture.h -- the attention of one translation as a PNG. */
#ifndef PROGRAM_PICTURE_H
#define PROGRAM_PICTURE_H

#include "data/vocabulary.h"
#include "model/transformer.h"

/* Draws how the network looked when it read `source` and wrote `target` (ids, each ending in
 * </s>): encoder-decoder attention and both self-attentions, every layer and head.
 * name: of the model, for the file's text chunks. */
bool picture_attention(const char *path, const Transformer *model,
                       const Vocabulary *vocabulary, const char *name, const int *source, int source_length,
                       const int *target, int target_length, Error *error);

/* So many words can be looked at; and the bytes that a picture of so many takes, at most. */
enum { PICTURE_WORDS = 40 };
double picture_memory(const ModelConfig *model);

#endif
