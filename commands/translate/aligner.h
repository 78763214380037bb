/* aligner.h -- words aligned by the attention of a model: ./translate --align.
 *
 * Which layer and heads, and at which step? What the options say; else what the model's folder has
 * in alignment.json, written by --align-save after a comparison with right alignments; else the
 * norms of all heads of all layers together, at the step that writes.
 *
 *   alignment.json   {"layer":"all","heads":"norm","step":"writes","aer":0.097,
 *                     "best_head":{"layer":2,"head":4,"step":"writes","aer":0.14}}
 *
 * layer is a number from 1 or "all", heads a number from 1, "mean" or "norm"; best_head is the best
 * single one. */
#ifndef COMMANDS_TRANSLATE_ALIGNER_H
#define COMMANDS_TRANSLATE_ALIGNER_H

#include <stdio.h>

#include "base/options.h"
#include "explain/choice.h"
#include "inference/align.h"
#include "inference/bundle.h"

typedef struct AlignConfig {
    bool align, save;
    double threshold;
    int step;  // a place in the option's choices: by itself, writes, reads
    char *gold, *tsv;
} AlignConfig;

extern const Option align_options[];
extern const int align_option_count;

/* Which attention is read as an alignment. */
typedef struct AlignBy {
    int layer, head;  // from 0; or ALIGN_LAYERS; or ALIGN_MEAN, ALIGN_NORM
    AlignStep step;
} AlignBy;

typedef struct Aligner {
    const Bundle *bundle;
    AlignBy by;
    double threshold;
    Links links;   // of the last pair
    float *share;  // scratch
} Aligner;

/* model: the path that the bundle was loaded from. */
bool aligner_create(Aligner *aligner, const Bundle *bundle, const char *model,
                    const AlignConfig *config, const Choice *choice, Error *error);
void aligner_free(Aligner *aligner);  // fine on {0}

/* aligner->links (=) those of the snapshot's pair, by aligner->by. source_word [n-1], target_word [m-1]:
 * the word of each token but </s>. */
bool aligner_link(Aligner *aligner, const Snapshot *snapshot, const int *source_word,
                  const int *target_word, Error *error);

/* "0-0 1-1 2-3", without a newline. */
void links_print(FILE *out, const Links *links);

/* Writes alignment.json into the model's folder: the best of all, and the best single head. */
bool align_save(const char *model, AlignBy by, double aer, AlignBy head, double head_aer,
                Error *error);

/* known_layer and known_head of the choice (=) those of alignment.json, if there is one. */
bool align_known_best(Choice *choice, const char *model, const ModelConfig *config,
                      Error *error);

/* Where --head best is chosen, or nothing is and it is wanted: the choice becomes the best single
 * head of alignment.json, if there is one. */
bool align_settle_best(Choice *choice, bool wanted, const char *model,
                       const ModelConfig *config, Error *error);

/* "2" or "all"; "2", "mean" or "norm". text is where a number is put. */
const char *align_layer_name(char text[16], int layer);
const char *align_head_name(char text[16], int head);

#endif
