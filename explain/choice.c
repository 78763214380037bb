/* choice.c -- which attention is shown; see choice.h. */
#include "explain/choice.h"

static const char *const KINDS[] = {"cross", "encoder", "decoder", "all", NULL};
static const char *const HEADS[] = {"rollout", "max", "best", "mean", NULL};

// clang-format off
const Option choice_options[] = {
    {"attention-kind", OPTION_CHOICE, offsetof(ChoiceConfig, kind), 0, 0, KINDS, NULL,
     "with --attention, --show or --explain: cross-attention, encoder self-attention, decoder "
     "self-attention, or all", 0},
    {"layer", OPTION_INT, offsetof(ChoiceConfig, layer), 0, MAX_LAYERS, NULL, NULL,
     "with --attention, --show, --explain or --align: a layer, from 1; 0: the layer of the head that "
     "training found to align best, else the last or the last but one; with --align all", 0},
    {"head", OPTION_TEXT, offsetof(ChoiceConfig, head), 0, 0, NULL, "HEAD",
     "with --attention, --show, --explain or --align: the head to show: a number from 1; mean or max of a "
     "layer's heads; rollout of self-attention up to the layer; best, the one that aligns words best",
     OPTION_COMMON},
    {"words", OPTION_TEXT, offsetof(ChoiceConfig, words), 0, 0, NULL, "FIRST-LAST",
     "with --attention or --show: only these words of both sentences, from 1", 0},
    {"range", OPTION_TEXT, offsetof(ChoiceConfig, range), 0, 0, NULL, "LOW:HIGH|auto",
     "with --attention: the weights that the colours of a picture stand for; auto: up to the largest, as "
     "for sentences of more than 25 words; default of others: 0:1", 0},
    {"bare", OPTION_FLAG, offsetof(ChoiceConfig, bare), 0, 0, NULL, NULL,
     "with --attention: draw one map and its labels, without other text: a figure for a column of a "
     "paper, 240 pt wide with labels of 8 pt", 0},
    {"font", OPTION_TEXT, offsetof(ChoiceConfig, font), 0, 0, NULL, "FAMILY",
     "with --attention: of pictures, such as \"DejaVu Serif\"; default: Noto Sans or DejaVu Sans", 0},
};
// clang-format on
const int choice_option_count = sizeof choice_options / sizeof *choice_options;

const Choice choice_default = {.kind = ATTENTION_CROSS,
                               .layer = CHOICE_NONE,
                               .head = CHOICE_NONE,
                               .known_layer = CHOICE_NONE,
                               .known_head = CHOICE_NONE};

static bool read_words(Choice *choice, const char *words, Error *error)
{
    int first, last, end = 0;
    if (!words) return true;
    if (strspn(words, "0123456789-") != strlen(words) ||
        sscanf(words, "%6d-%6d%n", &first, &last, &end) != 2 || words[end] || first < 1 ||
        last < first)
        return error_set(error, "`words` takes FIRST-LAST, such as 10-25, not '%s'", words);
    choice->first_word = first, choice->last_word = last;
    return true;
}

static bool read_range(Choice *choice, const char *range, Error *error)
{
    int end = 0;
    if (!range) return true;
    if (!strcmp(range, "auto")) return choice->follow = true;
    if (strspn(range, "0123456789.:") != strlen(range) ||
        sscanf(range, "%f:%f%n", &choice->low, &choice->high, &end) != 2 || range[end] ||
        choice->high > 1 || choice->low >= choice->high)
        return error_set(error,
                         "`range` takes auto or LOW:HIGH, from 0:1 inwards, such as 0:0.5, not "
                         "'%s'",
                         range);
    return true;
}

bool choice_parse(Choice *choice, const ChoiceConfig *config, Error *error)
{
    static const AttentionKind kinds[] = {ATTENTION_CROSS, ATTENTION_ENCODER, ATTENTION_DECODER,
                                          ATTENTION_CROSS};
    *choice = choice_default;
    choice->kind = kinds[config->kind];
    choice->all_kinds = config->kind == 3;
    choice->bare = config->bare, choice->font = config->font;
    if (config->layer) choice->layer = config->layer - 1;
    if (choice->bare && choice->all_kinds)
        return error_set(error, "`bare` draws one map: choose one `attention-kind`");
    if (!read_words(choice, config->words, error) || !read_range(choice, config->range, error))
        return false;
    if (!config->head) return true;
    for (int i = 0; HEADS[i]; i++)
        if (!strcmp(config->head, HEADS[i])) return choice->head = CHOICE_ROLLOUT + i, true;
    char *end;
    long head = strtol(config->head, &end, 10);
    choice->head = (int)head - 1;
    return (!*end && end != config->head && head >= 1 && head <= 100000) ||
           error_set(error,
                     "`head` must be a number from 1, mean, max, rollout or best, not '%s'",
                     config->head);
}

const char *choice_head_name(int head)
{
    return head < CHOICE_NONE ? HEADS[head - CHOICE_ROLLOUT] : NULL;
}

bool choice_check(const Choice *choice, const ModelConfig *model, Error *error)
{
    int encoder = model->encoder_layers, decoder = model->decoder_layers;
    bool encoding = choice->all_kinds ? encoder < decoder : choice->kind == ATTENTION_ENCODER;
    int layers = encoding ? encoder : decoder;
    if (choice->layer >= layers)
        return error_set(error, "`layer` %d: the model has %d %s layer%s", choice->layer + 1,
                         layers, encoding ? "encoder" : "decoder", layers == 1 ? "" : "s");
    int head = choice->head;
    if (head == CHOICE_ROLLOUT && (choice->all_kinds || choice->kind == ATTENTION_CROSS))
        return error_set(
            error, "`head` rollout is of self-attention: choose `attention-kind` encoder or "
                   "decoder");
    if (head >= model->heads)
        return error_set(error, "`head` %d: a layer of the model has %d head%s", head + 1,
                         model->heads, model->heads == 1 ? "" : "s");
    return true;
}

void choice_know(Choice *choice, const Bundle *bundle)
{
    const ModelConfig *config = &bundle->model.config;
    int layer = bundle->text.aligning_layer, head = bundle->text.aligning_head;
    if (layer < 1 || layer > config->decoder_layers || head < 1 || head > config->heads) return;
    choice->known_layer = layer - 1, choice->known_head = head - 1;
}

const char *const choice_kind_titles[] = {"Encoder self-attention",
                                          "Decoder self-attention (causal)", "Cross-attention"};
