/* aligner.h -- aligns words by the attention of a model: ./translate --align. */
#pragma once

#include <stdio.h>

#include "explain/choice.h"
#include "inference/align.h"

/* Which attention is used as an alignment. */
typedef struct AlignBy {
    int layer, head;  // from 0; or ALIGN_LAYERS; or ALIGN_MEAN, ALIGN_NORM
} AlignBy;

/* *guided (=) whether training guided head 1 of the last layer (--guide-alignment), by the options
 * in the checkpoint of a model. */
bool aligner_guided(bool *guided, const char *options, const char *model, Error *error);

/* by (=) the layer and heads of the options; else the guided head; else the norms of all heads of
 * all layers. */
bool aligner_choose(AlignBy *by, bool guided, const Choice *choice, int layers, Error *error);

/* links (=) those of the snapshot's pair. source_word [n-1], target_word [m-1]: the word of each
 * token but </s>. */
bool aligner_link(Links *links, AlignBy by, const Snapshot *snapshot, const int *source_word,
                  const int *target_word, Error *error);

/* "0-0 1-1 2-3", without a newline. */
void links_print(FILE *out, const Links *links);
