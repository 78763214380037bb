/* choice.c -- which attention is shown; see choice.h. */
#include "explain/choice.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const KINDS[] = {"cross", "encoder", "decoder", "all", NULL};
static const char *const HEADS[] = {"mean", "best", NULL};

// clang-format off
const Option choice_options[] = {
    {"attention-kind", OPTION_CHOICE, offsetof(ChoiceConfig, kind), 0, 0, KINDS, NULL,
     "cross-attention, encoder self-attention, decoder self-attention, or all", 0},
    {"layer", OPTION_INT, offsetof(ChoiceConfig, layer), 0, MAX_LAYERS, NULL, NULL,
     "a layer, from 1; 0: the same of a model for all sentences, mostly the last", 0},
    {"head", OPTION_TEXT, offsetof(ChoiceConfig, head), 0, 0, HEADS, "N|mean|best",
     "a head, from 1; the mean of a layer's heads; or the head that "
     "aligns words best", OPTION_COMMON},
};
// clang-format on
const int choice_option_count = sizeof choice_options / sizeof *choice_options;

const Choice choice_default = {ATTENTION_CROSS, false,       CHOICE_NONE,
                               CHOICE_NONE,     CHOICE_NONE, CHOICE_NONE};

bool choice_parse(Choice *choice, const ChoiceConfig *config, Error *error)
{
    static const AttentionKind kinds[] = {ATTENTION_CROSS, ATTENTION_ENCODER, ATTENTION_DECODER,
                                          ATTENTION_CROSS};
    static const int heads[] = {CHOICE_MEAN, CHOICE_BEST};
    *choice = choice_default;
    choice->kind = kinds[config->kind];
    choice->all_kinds = config->kind == 3;
    if (config->layer) choice->layer = config->layer - 1;
    if (!config->head) return true;
    for (int i = 0; HEADS[i]; i++)
        if (!strcmp(config->head, HEADS[i])) return choice->head = heads[i], true;
    char *end;
    long head = strtol(config->head, &end, 10);
    choice->head = (int)head - 1;
    return (!*end && end != config->head && head >= 1 && head <= 100000) ||
           error_set(error, "`head` must be a number from 1, mean or best, not '%s'",
                     config->head);
}

bool choice_check(const Choice *choice, const ModelConfig *model, Error *error)
{
    int encoder = model->encoder_layers, decoder = model->decoder_layers;
    int layers = choice->kind == ATTENTION_ENCODER ? encoder : decoder;
    if (choice->all_kinds && encoder < layers) layers = encoder;
    if (choice->layer >= layers)
        return error_set(error, "`layer` %d: the model has %d %s layer%s", choice->layer + 1,
                         layers, choice->kind == ATTENTION_ENCODER ? "encoder" : "decoder",
                         layers == 1 ? "" : "s");
    int head = choice->head;
    if (head >= model->heads)
        return error_set(error, "`head` %d: a layer of the model has %d head%s", head + 1,
                         model->heads, model->heads == 1 ? "" : "s");
    return true;
}

const char *const choice_kind_titles[] = {"Encoder self-attention",
                                          "Decoder self-attention (causal)", "Cross-attention"};
