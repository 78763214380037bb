/* choice.h -- which attention is shown, and how: --attention-kind, --layer, --head, --words, --range, …
 *
 * Layers and heads count from 1 in options and from 0 in code. A head is a number, or one of
 * these words:
 *
 *   mean    the mean of the layer's heads
 *   max     the largest weight of the layer's heads
 *   rollout   of self-attention: what the layers up to this one mix together (explain/maps.h)
 *   best    the head that aligns words best: as training found out, else by maps_agree
 *           (explain/maps.h); of self-attention the one with the lowest entropy; of the chosen
 *           layer or of all
 *
 * If no layer or head is chosen, each view has its own default. */
#pragma once

#include "base/options.h"
#include "inference/bundle.h"
#include "inference/snapshot.h"

typedef struct ChoiceConfig {
    int kind;                    // an index into the option's choices
    int layer;                   // 1 .. L; 0: not chosen
    char *head;                  // or NULL: not chosen
    char *words, *range, *font;  // the same
    bool bare;
} ChoiceConfig;

extern const Option choice_options[];
extern const int choice_option_count;

enum { CHOICE_ROLLOUT = -5, CHOICE_MAX, CHOICE_BEST, CHOICE_MEAN, CHOICE_NONE };

/* "rollout", …, "mean", or NULL: a number */
const char *choice_head_name(int head);

typedef struct Choice {
    AttentionKind kind;
    bool all_kinds;
    int layer;                    // from 0; or CHOICE_NONE
    int head;                     // from 0; or CHOICE_NONE, _MEAN, …
    int known_layer, known_head;  // the best, as training found out; or CHOICE_NONE
    int first_word, last_word;    // of both sentences, from 1, that are shown; 0, 0: all
    float low, high;   // the weights of the first and the last colour; 0, 0: a picture's own
    bool follow;       // the last colour is that of the largest weight
    bool bare;         // pictures have one map and its labels
    const char *font;  // a family; or NULL
} Choice;

/* Encoder-decoder attention, no layer and no head chosen. */
extern const Choice choice_default;

/* Reads the options. False if one of them is not valid (exit status 2). */
bool choice_parse(Choice *choice, const ChoiceConfig *config, Error *error);

/* False if the model has no such layer or head. */
bool choice_check(const Choice *choice, const ModelConfig *model, Error *error);

/* Sets the known layer and head to those that the model records, if it has them. */
void choice_know(Choice *choice, const Bundle *bundle);

/* Indexed by AttentionKind: "Encoder self-attention", … */
extern const char *const choice_kind_titles[];
