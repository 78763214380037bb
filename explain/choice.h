/* choice.h -- which attention is meant: --attention-kind, --layer and --head.
 *
 * Layers and heads are counted from 1 by people and from 0 here. A head is a number, or several
 * with commas between them, "1,3", of which the mean is meant; or one of three words:
 *
 *   mean    the mean of the layer's heads
 *   max     the largest of them, cell by cell; a picture divides its rows by their sums
 *   best    the head whose attention is most like an alignment of words (explain/maps.h),
 *           of the layer that was named, or of all
 *
 * What is not chosen is the caller's to decide. */
#ifndef EXPLAIN_CHOICE_H
#define EXPLAIN_CHOICE_H

#include "base/options.h"
#include "inference/snapshot.h"

#include <stdint.h>

typedef struct ChoiceConfig {
    int kind;    // a place in the option's choices
    int layer;   // 1 .. L; 0: not chosen
    char *head;  // or NULL: not chosen
} ChoiceConfig;

extern const Option choice_options[];
extern const int choice_option_count;

enum {
    CHOICE_NONE = -1,
    CHOICE_MEAN = -2,
    CHOICE_MAX = -3,
    CHOICE_BEST = -4,
    CHOICE_SOME = -5,  // several heads
    CHOICE_HEADS = 64  // of which there are at most so many
};

typedef struct Choice {
    AttentionKind kind;
    bool all_kinds;
    int layer;                    // from 0; or CHOICE_NONE
    int head;                     // from 0; or CHOICE_NONE, _MEAN, _MAX, _BEST, _SOME
    int known_layer, known_head;  // best by comparison with right links; or CHOICE_NONE
    uint64_t some;                // bit h: head h is among the several
} Choice;

/* Encoder-decoder attention, and nothing chosen of it. */
extern const Choice choice_default;

/* Reads the words; false, with a sentence, if they cannot be meant. That is wrong use. */
bool choice_parse(Choice *choice, const ChoiceConfig *config, Error *error);

/* Whether the model has that layer and head. */
bool choice_check(const Choice *choice, const ModelConfig *model, Error *error);

/* "encoder", "decoder", "cross"; "Encoder self-attention", … */
const char *choice_kind_name(AttentionKind kind);
const char *choice_kind_title(AttentionKind kind);

#endif
