/* config.c -- the shape of a network: its options, and whether they fit each other. */
#include "model/config.h"

static const char *const PROJECTIONS[] = {"separate", "qk-shared", "kv-shared", "none", NULL};
static const char *const ACTIVATIONS[] = {"relu", "gelu", "swish", NULL};
static const char *const NORMS[] = {"post", "pre", NULL};
static const char *const POSITIONS[] = {"sinusoidal", "learned", "none", NULL};
static const char *const TYINGS[] = {"all", "decoder", "none", NULL};

const char *const precision_names[] = {"float", "bf16", NULL};

#define FIELD(name) offsetof(ModelConfig, name)
// clang-format off
const Option model_options[] = {
    {"d-model", OPTION_INT, FIELD(d_model), 2, MAX_D_MODEL, NULL, NULL,
     "width of the vectors; a multiple of --heads", 0},
    {"heads", OPTION_INT, FIELD(heads), 1, 256, NULL, NULL,
     "attention heads, each d-model / heads wide", 0},
    {"ffn", OPTION_INT, FIELD(ffn), 1, 65536, NULL, NULL,
     "width of the feed-forward network's inner layer", 0},
    {"encoder-layers", OPTION_INT, FIELD(encoder_layers), 1, MAX_LAYERS, NULL, NULL,
     "layers that read the source", 0},
    {"decoder-layers", OPTION_INT, FIELD(decoder_layers), 1, MAX_LAYERS, NULL, NULL,
     "layers that write the target", 0},
    {"max-length", OPTION_INT, FIELD(max_length), 2, 8192, NULL, NULL,
     "longest sentence in tokens, its end included; longer ones are skipped in training and "
     "cut in translation", 0},
    {"attention-score", OPTION_CHOICE, FIELD(attention_score), 0, 0, score_names, NULL,
     "how a query and a key are compared, before the softmax: q·k / √d_k; q·k; "
"q·k / d_k; their cosine, times a learned number for each head; -‖q-k‖₁", OPTION_EXPERT},
    {"projections", OPTION_CHOICE, FIELD(projections), 0, 0, PROJECTIONS, NULL,
     "which of W_Q, W_K and W_V are one matrix; none: there are none, Q = K = V = x", OPTION_EXPERT},
    {"activation", OPTION_CHOICE, FIELD(activation), 0, 0, ACTIVATIONS, NULL,
     "between the two matrices of the feed-forward network", 0},
    {"norm", OPTION_CHOICE, FIELD(norm), 0, 0, NORMS, NULL,
     "layer norm after each residual sum (post), or before each sublayer (pre), which trains "
     "deep stacks without a long warm-up", 0},
    {"positions", OPTION_CHOICE, FIELD(positions), 0, 0, POSITIONS, NULL,
     "what tells the network the order of the tokens", 0},
    {"tying", OPTION_CHOICE, FIELD(tying), 0, 0, TYINGS, NULL,
     "what is one matrix: source and target embedding and the output layer; the last two of "
     "them; nothing", 0},
    {"output-bias", OPTION_FLAG, FIELD(output_bias), 0, 0, NULL, NULL,
     "learn a bias for every token of the output", OPTION_EXPERT},
    {.name = "embedding-scale", .help = "\"sqrt\"", .flags = OPTION_REMOVED},
    {.name = "score", .help = "\"scaled-dot\"", .flags = OPTION_REMOVED},
};
// clang-format on
const int model_option_count = sizeof model_options / sizeof *model_options;

int config_source_vocab(const ModelConfig *config)
{
    return config->source_vocab ? config->source_vocab : config->vocab;
}

bool config_check(const ModelConfig *c, Error *error)
{
    if (c->d_model % c->heads)
        return error_set(error,
                         "`heads` %d does not divide `d-model` %d: each head takes "
                         "d-model / heads columns",
                         c->heads, c->d_model);
    const int vocabs[] = {c->vocab, config_source_vocab(c)};
    for (int i = 0; i < 2; i++)
        if (vocabs[i] < 4 || vocabs[i] > 1 << 24)
            return error_set(error,
                             "a vocabulary of %d tokens cannot be used: it has 4 to "
                             "16777216",
                             vocabs[i]);
    if (c->tying == TYING_ALL && vocabs[0] != vocabs[1])
        return error_set(error,
                         "`tying` all needs one vocabulary for both languages, and these "
                         "have %d source and %d target tokens: give `tying` decoder or none",
                         vocabs[1], vocabs[0]);
    return true;
}

void config_print(FILE *out, const ModelConfig *config)
{
    for (int i = 0; i < model_option_count; i++) {
        const Option *option = &model_options[i];
        const char *at = (const char *)config + option->offset;
        if (option->flags & OPTION_REMOVED) continue;
        if (option->kind == OPTION_INT) fprintf(out, "%s %d\n", option->name, *(const int *)at);
        if (option->kind == OPTION_CHOICE)
            fprintf(out, "%s %s\n", option->name, option->choices[*(const int *)at]);
        if (option->kind == OPTION_FLAG)
            fprintf(out, "%s %s\n", option->name, *(const bool *)at ? "true" : "false");
    }
}
