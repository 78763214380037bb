/* search.c -- options, limits and scores of the searches; see search.h. */
#include "inference/search.h"

#include <math.h>

#include "base/packed.h"
#include "model/vecexp.h"

enum { EXTRA_LENGTH = 20 };  // a source of one word may have a translation of many

const SearchConfig search_default = {
    .beam = 4, .n_best = 1, .length_penalty = 1, .max_length_ratio = 3};

#define FIELD(name) offsetof(SearchConfig, name)
// clang-format off
const Option search_options[] = {
    {"beam", OPTION_INT, FIELD(beam), 1, MAX_BEAM, NULL, NULL,
     "hypotheses kept at every step; 1 takes the most probable token each time", false},
    {"n-best", OPTION_INT, FIELD(n_best), 1, MAX_BEAM, NULL, NULL,
     "how many of them to give, best first; at most --beam", false},
    {"length-penalty", OPTION_REAL, FIELD(length_penalty), 0, 10, NULL, "A",
     "a hypothesis scores ln p / length^A: more than 0 favours longer ones", false},
    {"max-length-ratio", OPTION_REAL, FIELD(max_length_ratio), 0.1, 100, NULL, NULL,
     "a translation has at most 20 tokens more than this times the source's", false},
    {"max-tokens", OPTION_INT, FIELD(max_tokens), 0, 8192, NULL, NULL,
     "and at most so many, its end included; 0: no such limit", false},
    {"unknown", OPTION_FLAG, FIELD(unknown), 0, 0, NULL, NULL,
     "may produce <unk>", false},
};
// clang-format on
const int search_option_count = sizeof search_options / sizeof *search_options;

bool search_check(const SearchConfig *config, Error *error)
{
    if (config->n_best > config->beam)
        return error_set(error,
                         "--n-best %d is more than --beam %d, which is how many there are",
                         config->n_best, config->beam);
    return true;
}

int search_limit(const SearchConfig *config, const ModelConfig *model, int length)
{
    double limit = floor(config->max_length_ratio * length) + EXTRA_LENGTH;
    int most = model->max_length;
    if (config->max_tokens && config->max_tokens < most) most = config->max_tokens;
    return limit < most ? (int)limit : most;
}

double search_score(const SearchConfig *config, double log_probability, int length)
{
    return log_probability / pow(length, config->length_penalty);
}

double search_normaliser(const real *z, int C)
{
    real largest = z[0], sum = 0;
#pragma omp simd reduction(max : largest) simdlen(16)
    for (int c = 0; c < C; c++) largest = z[c] > largest ? z[c] : largest;
#pragma omp simd reduction(+ : sum) simdlen(16)
    for (int c = 0; c < C; c++) sum += vec_exp(z[c] - largest);
    return (double)largest + log(sum);  // sum >= 1, as e^0 is exactly 1
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
