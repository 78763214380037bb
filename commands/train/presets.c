/* presets.c -- the presets of ./train; see presets.h. */
#include "commands/train/presets.h"

const char *const preset_names[] = {"toy", "tiny", "small", "base", "auto", NULL};

const char *const preset_purposes[] = {
    "the built-in corpus, whole words, about a minute",
    "10,000 to 100,000 pairs: Transformer-Tiny of Wu et al. 2021",
    "about 100,000 pairs",
    "a million pairs or more: the base model of Vaswani et al. 2017",
    NULL,
};

// clang-format off
static const struct {
    const char *option, *value[PRESETS];
} settings[] = {
    {"tokenizer",       {"word",        "bpe",          "bpe",          "bpe"}},
    {"normalization",   {"nmt_nfkc_cf", "nmt_nfkc",     "nmt_nfkc",     "nmt_nfkc"}},
    {"vocab-size",      {"2000",        "10000",        "10000",        "10000"}},
    {"d-model",         {"128",         "128",          "256",          "512"}},
    {"heads",           {"4",           "4",            "8",            "8"}},
    {"ffn",             {"256",         "256",          "512",          "2048"}},
    {"encoder-layers",  {"2",           "4",            "3",            "6"}},
    {"decoder-layers",  {"2",           "4",            "3",            "6"}},
    {"max-length",      {"64",          "256",          "256",          "256"}},
    {"output-bias",     {"true",        "false",        "false",        "false"}},
    {"batch-tokens",    {"1600",        "8192",         "8192",         "25000"}},
    {"micro-tokens",    {"400",         "320",          "512",          "512"}},
    {"accumulators",    {"4",           "0",            "0",            "0"}},
    {"learning-rate",   {"0.003",       "0.005",        "0.002",        "0.0007"}},
    {"schedule",        {"cosine",      "inverse-sqrt", "inverse-sqrt", "inverse-sqrt"}},
    {"warmup",          {"200",         "2000",         "2000",         "4000"}},
    {"max-updates",     {"2400",        "8000",         "30000",        "100000"}},
    {"dropout",         {"0.1",         "0.3",          "0.2",          "0.1"}},
    {"label-smoothing", {"0.1",         "0.1",          "0.1",          "0.1"}},
    {"augment",         {"0",           "0.3",          "0.3",          "0.3"}},
    {"clip-norm",       {"1",           "25",           "5",            "1"}},
    {"valid-every",     {"400",         "0",            "0",            "0"}},
    {"patience",        {"0",           "10",           "10",           "10"}},
};
// clang-format on
enum { SETTINGS = sizeof settings / sizeof *settings };

bool preset_apply(const OptionGroup *groups, int count, int preset, Error *error)
{
    bool good = true;
    for (int s = 0; good && s < SETTINGS; s++)
        good = options_set(groups, count, settings[s].option, settings[s].value[preset], error);
    return good;
}

void presets_print(FILE *out)
{
    fprintf(out, "  %-16s", "");
    for (int p = 0; p < PRESETS; p++) fprintf(out, "%14s", preset_names[p]);
    for (int s = 0; s < SETTINGS; s++) {
        fprintf(out, "\n  %-16s", settings[s].option);
        for (int p = 0; p < PRESETS; p++) fprintf(out, "%14s", settings[s].value[p]);
    }
    fputc('\n', out);
}
