/* aligner.h -- aligns words by the attention of a model: ./translate --align.
 *
 * Which layer and heads are used? Those of the options; else the head that training guided
 * (--guide-alignment); else the norms of all heads of all layers. */
#pragma once

#include <stdio.h>

#include "explain/choice.h"
#include "inference/align.h"

/* Which attention is used as an alignment. */
typedef struct AlignBy {
    int layer, head;  // from 0; or ALIGN_LAYERS; or ALIGN_MEAN, ALIGN_NORM
} AlignBy;

/* *guided (=) whether training guided head 1 of the last layer, by the options in the checkpoint
 * of a model. */
bool aligner_guided(bool *guided, const char *options, const char *model, Error *error);

typedef struct Aligner {
    AlignBy by;
    Links links;   // of the last pair
    float *share;  // scratch
} Aligner;

bool aligner_create(Aligner *aligner, bool guided, const Choice *choice, int layers,
                    Error *error);
void aligner_free(Aligner *aligner);  // does nothing for {0}

/* aligner->links (=) those of the snapshot's pair, by aligner->by. source_word [n-1],
 * target_word [m-1]: the word of each token but </s>. */
bool aligner_link(Aligner *aligner, const Snapshot *snapshot, const int *source_word,
                  const int *target_word, Error *error);

/* "0-0 1-1 2-3", without a newline. */
void links_print(FILE *out, const Links *links);

/* A layer or head: "2", "mean", "norm" or "all". text is the buffer for a number. */
const char *align_name(char text[16], int place);
