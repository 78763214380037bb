/* picture.h -- the attention of one translation as a PNG. */
#ifndef EXPLAIN_PICTURE_H
#define EXPLAIN_PICTURE_H

#include "data/vocabulary.h"
#include "explain/choice.h"
#include "model/transformer.h"

/* How it is drawn; which attention, explain/choice.h says. */
typedef struct PictureConfig {
    bool rollout, words, hide_special;
    int scale;
    int theme;  // a Theme: plots/canvas.h
} PictureConfig;

extern const PictureConfig picture_default;

/* The table behind --help and the command line. */
extern const Option picture_options[];
extern const int picture_option_count;

/* One sentence and its translation. */
typedef struct SentencePair {
    const int *source, *target;  // [n] [m] ids, each ending in </s>
    int source_length, target_length;
    bool given;  // the translation is somebody else's, not the model's
} SentencePair;

/* Draws how the network looked when it read the source and wrote the target: a large map and the
 * small ones of every layer and head, of each kind that was chosen.
 * name: of the model, for the file's text chunks. */
bool picture_attention(const char *path, const Transformer *model, const Vocabulary *vocabulary,
                       const char *name, const SentencePair *pair, const Choice *choice,
                       const PictureConfig *config, Error *error);

/* The layer and head of encoder-decoder attention that aligns the pair's tokens best, of the layer
 * that was chosen or of all. */
bool picture_best(int *layer, int *head, const Snapshot *snapshot, const SentencePair *pair,
                  const Vocabulary *vocabulary, const Choice *choice, Error *error);

/* So many words can be looked at; and about the bytes that a picture of so many takes, at most, of
 * encoder-decoder attention as it is drawn by default. */
enum { PICTURE_WORDS = 40 };
double picture_memory(const ModelConfig *model);

#endif
