/* alignhead.h -- which head of cross-attention aligns words best: the one that most often puts its
 * largest weight on the source token that the aligner (training/guide.h) links to the target token
 * which it is about to write. A head that aligns the token that it has just read is one row late, and
 * loses. */
#pragma once

#include "data/corpus.h"
#include "inference/snapshot.h"

typedef struct AlignHead {
    int *link;          // [target tokens of the pairs] guide_link
    int pairs;          // of the validation text, the first ones
    uint16_t *lexicon;  // [lexicon_count] from the same links (lexicon.h)
    size_t lexicon_count;
} AlignHead;

/* Learns the links from the training text, or from a part of it, evenly spread. Free it even if this fails. */
bool alignhead_prepare(AlignHead *head, const Corpus *corpus, const Corpus *valid,
                       const ModelConfig *config, Error *error);
void alignhead_free(AlignHead *head);  // allowed on {0}

/* layer, head (=) the best one of a model, from 0; -1 if it agrees with less than 2 of 5 links */
bool alignhead_find(int *layer, int *head, const AlignHead *links, const Transformer *model,
                    const Corpus *valid, Error *error);
