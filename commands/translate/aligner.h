/* aligner.h -- aligns words by the attention of a model: ./translate --align.
 *
 * Which layer, heads and decoder step are used? Those of the options; else those of
 * alignment.json in the model's folder, which --align-save writes after a comparison with gold
 * links; else the head that training guided (--guide-alignment); else the norms of all heads of
 * all layers, at the step that writes a word.
 *
 *   alignment.json   {"layer":"all","heads":"norm","step":"writes","aer":0.097,
 *                     "best_head":{"layer":2,"head":4,"step":"writes","aer":0.14}}
 *
 * layer is a number from 1 or "all"; heads is a number from 1, "mean" or "norm"; best_head is
 * the best single head. */
#pragma once

#include <stdio.h>

#include "base/options.h"
#include "explain/choice.h"
#include "inference/align.h"

typedef struct AlignConfig {
    bool align, save;
    double threshold;
    int step;  // an index into the option's choices: best, writes, reads
    char *gold, *tsv;
} AlignConfig;

extern const Option align_options[];
extern const int align_option_count;

/* Which attention is used as an alignment, and its alignment error rate if it is known. */
typedef struct AlignBy {
    int layer, head;  // from 0; or ALIGN_LAYERS; or ALIGN_MEAN, ALIGN_NORM
    AlignStep step;
    double aer;
} AlignBy;

/* What alignment.json says; the defaults if there is none. */
typedef struct SavedAlignment {
    bool found;               // a head is known to align
    AlignBy best, best_head;  // of all; of single heads
} SavedAlignment;

/* model: the path that the model was loaded from   options: the JSON in its checkpoint. */
bool alignment_load(SavedAlignment *saved, const char *model, const ModelConfig *config,
                    const char *options, Error *error);
bool alignment_save(const SavedAlignment *saved, const char *model, Error *error);

typedef struct Aligner {
    AlignBy by;
    double threshold;
    Links links;   // of the last pair
    float *share;  // scratch
} Aligner;

bool aligner_create(Aligner *aligner, const AlignConfig *config, const SavedAlignment *saved,
                    const Choice *choice, int layers, Error *error);
void aligner_free(Aligner *aligner);  // does nothing for {0}

/* aligner->links (=) those of the snapshot's pair, by aligner->by. source_word [n-1],
 * target_word [m-1]: the word of each token but </s>. */
bool aligner_link(Aligner *aligner, const Snapshot *snapshot, const int *source_word,
                  const int *target_word, Error *error);

/* "0-0 1-1 2-3", without a newline. */
void links_print(FILE *out, const Links *links);

/* A layer or head: "2", "mean", "norm" or "all". text is the buffer for a number. */
const char *align_name(char text[16], int place);
