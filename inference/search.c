/* search.c -- options, limits and scores of the searches; see search.h. */
#include "inference/search.h"

#include <float.h>
#include <math.h>

#include "base/packed.h"
#include "kernels/vecexp.h"

enum { EXTRA_LENGTH = 20 };  // a source of one word may have a translation of many

const SearchConfig search_default = {.beam = 4,
                                     .n_best = 1,
                                     .length_penalty = 1,
                                     .max_length_ratio = 3,
                                     .repetition_penalty = 1,
                                     .temperature = 1,
                                     .top_p = 1,
                                     .seed = 1,
                                     .batch_rows = 84};

static const char *const LENGTH_PENALTIES[] = {"power", "wu", NULL};

#define FIELD(name) offsetof(SearchConfig, name)
// clang-format off
const Option search_options[] = {
    {"beam", OPTION_INT, FIELD(beam), 1, MAX_BEAM, NULL, NULL,
     "hypotheses kept at every step; 1 takes the most probable token each time", false},
    {"n-best", OPTION_INT, FIELD(n_best), 1, MAX_BEAM, NULL, NULL,
     "how many of them to give, best first; at most --beam, unless they are samples", false},
    {"length-penalty", OPTION_REAL, FIELD(length_penalty), 0, 10, NULL, "A",
     "a hypothesis scores ln p / length^A: more than 0 favours longer ones", false},
    {"length-penalty-form", OPTION_CHOICE, FIELD(length_penalty_form), 0, 0, LENGTH_PENALTIES,
     NULL, "wu: ln p / ((5 + length) / 6)^A instead, as Wu et al. 2016 have it", false},
    {"max-length-ratio", OPTION_REAL, FIELD(max_length_ratio), 0.1, 100, NULL, NULL,
     "a translation has at most 20 tokens more than this times the source's", false},
    {"max-tokens", OPTION_INT, FIELD(max_tokens), 0, 8192, NULL, NULL,
     "and at most so many, its end included; 0: no such limit", false},
    {"min-length", OPTION_INT, FIELD(min_length), 0, 8191, NULL, NULL,
     "and at least so many before its end", false},
    {"no-repeat-ngram", OPTION_INT, FIELD(no_repeat_ngram), 0, 64, NULL, "N",
     "no N tokens in a row come twice; 0: they may", false},
    {"repetition-penalty", OPTION_REAL, FIELD(repetition_penalty), 1, 100, NULL, "X",
     "a token that was written already counts X times its ln p", false},
    {"unknown", OPTION_FLAG, FIELD(unknown), 0, 0, NULL, NULL,
     "may produce <unk>", false},
    {"copy-unknown", OPTION_FLAG, FIELD(copy_unknown), 0, 0, NULL, NULL,
     "may produce it where the source has unknown words, and copies them there", false},
    {"alternatives", OPTION_INT, FIELD(alternatives), 0, MAX_BEAM, NULL, "N",
     "the best translation for each of the N most probable first tokens (after --prefix)", false},
    {"sample", OPTION_FLAG, FIELD(sample), 0, 0, NULL, NULL,
     "draw from the model's distribution instead of searching; --n-best says how often", false},
    {"temperature", OPTION_REAL, FIELD(temperature), 0.01, 100, NULL, NULL,
     "with --sample: below 1 the probable becomes more so, above 1 less", false},
    {"top-k", OPTION_INT, FIELD(top_k), 0, 1 << 24, NULL, NULL,
     "with --sample: from the K most probable tokens only; 0: all", false},
    {"top-p", OPTION_REAL, FIELD(top_p), 0.001, 1, NULL, NULL,
     "with --sample: from the fewest tokens that have this much probability together", false},
    {"seed", OPTION_UINT64, FIELD(seed), 0, 0, NULL, NULL,
     "with --sample: another number gives other samples", false},
    {"batch-rows", OPTION_INT, FIELD(batch_rows), 1, 65536, NULL, NULL,
     "hypotheses worked on side by side, of all sentences; fewer take less memory", false},
};
// clang-format on
const int search_option_count = sizeof search_options / sizeof *search_options;

bool search_check(const SearchConfig *config, Error *error)
{
    if (config->sample && config->alternatives)
        return error_set(error,
                         "--alternatives are searched for: they do not go with --sample");
    if (config->alternatives && config->n_best > 1)
        return error_set(error, "--alternatives says how many to give: it does not go with "
                                "--n-best");
    if (config->n_best > config->beam && !config->sample)
        return error_set(error,
                         "--n-best %d is more than --beam %d, which is how many there are",
                         config->n_best, config->beam);
    if (config->max_tokens && config->min_length >= config->max_tokens)
        return error_set(error,
                         "--min-length %d leaves no place for the end within --max-tokens "
                         "%d",
                         config->min_length, config->max_tokens);
    return true;
}

int search_results(const SearchConfig *config)
{
    return config->alternatives ? config->alternatives : config->n_best;
}

int search_rows(const SearchConfig *config)
{
    if (config->sample) return config->n_best;
    return config->alternatives ? config->alternatives * config->beam : config->beam;
}

int search_limit(const SearchConfig *config, const ModelConfig *model, int length,
                 int prefix_length)
{
    double limit = floor(config->max_length_ratio * length) + EXTRA_LENGTH + prefix_length;
    int most = model->max_length;
    if (config->max_tokens && config->max_tokens < most) most = config->max_tokens;
    return limit < most ? (int)limit : most;
}

double search_score(const SearchConfig *config, double log_probability, int length)
{
    double base =
        config->length_penalty_form == LENGTH_PENALTY_WU ? (5.0 + length) / 6 : length;
    return log_probability / pow(base, config->length_penalty);
}

real search_maximum(const real *z, int C)
{
    real largest = z[0];
#pragma omp simd reduction(max : largest) simdlen(16)
    for (int c = 0; c < C; c++) largest = z[c] > largest ? z[c] : largest;
    return largest;
}

double search_normaliser(const real *z, int C)
{
    real largest = search_maximum(z, C), sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(16)
    for (int c = 0; c < C; c++) sum += vec_exp(z[c] - largest);
    return (double)largest + log(sum);  // sum >= 1, as e^0 is exactly 1
}

bool search_finite(const real *z, int C)
{
    int bad = 0;
#pragma omp simd reduction(| : bad) simdlen(16)
    for (int c = 0; c < C; c++) bad |= !(z[c] - z[c] == 0);
    return !bad;
}

int search_largest(const real *z, int C)
{
    enum { BLOCK = 64 };
    real largest = search_maximum(z, C);
    for (int first = 0; first < C; first += BLOCK) {
        int end = C - first < BLOCK ? C : first + BLOCK, there = 0;
#pragma omp simd reduction(| : there) simdlen(16)
        for (int c = first; c < end; c++) there |= z[c] == largest;
        for (int c = first; there && c < end; c++)
            if (z[c] == largest) return c;
    }
    return 0;
}

bool sentence_check(const int *id, int length, const ModelConfig *model, bool source,
                    Error *error)
{
    int vocab = source ? config_source_vocab(model) : model->vocab;
    if (length < 1 || length > model->max_length)
        return error_set(error, "a sentence of %d tokens, where the model takes 1 to %d",
                         length, model->max_length);
    for (int i = 0; i < length; i++) {
        if (id[i] < 0 || id[i] >= vocab - 1)
            return error_set(error, "token %d is %d, where the vocabulary has 0 to %d", i + 1,
                             id[i], vocab - 2);
        if ((id[i] == ID_END) != (i == length - 1))
            return error_set(error, "token %d of %d is %s</s>, which ends a sentence", i + 1,
                             length, id[i] == ID_END ? "" : "not ");
    }
    return true;
}
