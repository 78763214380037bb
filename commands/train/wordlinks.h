/* wordlinks.h -- what a model learns from links of words, which the aligner (training/guide.h) finds in
 * the training text:
 *
 *   - which head of cross-attention aligns words best: the one that most often puts its largest
 *     weight on the source token linked to the target token which it is about to write. A head
 *     that aligns the token that it has just read is one row late, and loses
 *   - which target tokens translate each source token: its shortlist (inference/shortlist.h) */
#pragma once

#include "data/corpus.h"
#include "inference/snapshot.h"
#include "training/guide.h"

typedef struct WordLinks {
    int *link;            // [target tokens of the pairs] guide_link; NULL: not learned yet
    int pairs;            // of the validation text, the first ones
    uint16_t *shortlist;  // [shortlist_count]; NULL of a vocabulary too large for it
    size_t shortlist_count;
} WordLinks;

/* Creates the guide, and lets it learn from every step-th pair. Free it even if this fails. */
bool wordlinks_guide(Guide *guide, const ModelConfig *config, size_t cells,
                     const Corpus *corpus, size_t step, Error *error);

/* layer, head (=) the best one of a model, from 1; 0 if it agrees with less than 2 of 5 links. At
 * first learns the links, from the training text or from a part of it, evenly spread. */
bool wordlinks_head(int *layer, int *head, WordLinks *links, const Transformer *model,
                    const Corpus *corpus, const Corpus *valid, Error *error);
void wordlinks_free(WordLinks *links);  // allowed on {0}
