/* augment.h -- changes some pairs of each update, so that a model learns what real text is like.
 *
 *   join          two or three neighbouring pairs of the update become one
 *   placeholders  some of <ph1> … <ph8> (data/tokenizer.h) replace numbers, names and other
 *                 protected spans that are the same on both sides, or a word and its translation;
 *                 or they follow any words
 *   no stop       both sides without the punctuation at their end
 *   noise         the source with a typing error: a character is left out, or two are swapped
 *
 * A kind that is not possible becomes the next of them that is. Capitals are left to the
 * translator, which lowers them (inference/passage.h).
 *
 * What becomes of a pair depends on the seed, the epoch, its number and the pairs after it in the
 * update: on no thread, no rank and no earlier update. The division into updates stays, which is
 * by the lengths before the change. */
#pragma once

#include "base/rng.h"
#include "base/workers.h"
#include "data/dictionary.h"
#include "data/spans.h"
#include "data/vocabulary.h"

typedef enum {
    AUGMENT_JOIN,
    AUGMENT_PLACEHOLDERS,
    AUGMENT_NO_STOP,
    AUGMENT_NOISE,
    AUGMENT_KINDS  // not changed
} AugmentKind;

/* A pair of the changed update. */
typedef struct AugmentItem {
    int first, pairs;  // of the update, that it is made of
    AugmentKind kind;
    Rng rng;
    PairIds result;
} AugmentItem;

typedef struct Augment {
    double share;  // of the pairs, that are changed
    uint64_t seed;
    int max_length;          // tokens of a side, </s> included
    const CorpusText *text;  // of the corpus
    const Vocabulary *vocabulary;
    Workers *workers;
    Dictionary dictionary;
    SpanRules *rules;     // NULL: the vocabulary has no placeholders
    const PairIds *pair;  // the update that is changed
    AugmentItem *item;    // [pairs] of the changed update
    int32_t *id;          // [pairs,SIDES,max_length]
    size_t item_size, id_size;
} Augment;

/* Sets the rest of *augment by its first six fields. Free it even if this fails. */
bool augment_prepare(Augment *augment, Error *error);
void augment_free(Augment *augment);  // allowed on {0}

/* pair [*count] (=) the pairs of an update (batches_update) after the change; *count gets smaller
 * if some are joined. Their ids are valid until the next call. */
bool augment_update(Augment *augment, PairIds *pair, int *count, uint64_t epoch, Error *error);

/* Turns about half of the pairs of an update around, but for those with a tag: their source becomes the target
 * (Ding et al. 2021, "Improving Neural Machine Translation by Bidirectional Training", 2109.07780). */
void augment_turn(const Augment *augment, PairIds *pair, int count, uint64_t update);
