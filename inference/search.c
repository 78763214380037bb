/* search.c -- options, limits and scores of the searches; see search.h. */
#include "inference/search.h"

#include "base/packed.h"
#include "kernels/vecexp.h"

enum { EXTRA_LENGTH = 20 };  // tokens; short sources may have much longer translations

// clang-format off
#define DEFAULTS .beam = 4, .n_best = 1, .length_penalty = 1, .max_length_ratio = 3,           \
                 .temperature = 1, .top_p = 1, .seed = 1
// clang-format on
const SearchConfig search_default = {DEFAULTS};
const SearchConfig search_copying = {DEFAULTS, .copy_unknown = true};

#define FIELD(name) offsetof(SearchConfig, name)
// clang-format off
const Option search_options[] = {
    {"n-best", OPTION_INT, FIELD(n_best), 1, MAX_BEAM, NULL, NULL,
     "translations to give, best first; at most --beam. With --sample: as drawn, any number", OPTION_COMMON},
    {"beam", OPTION_INT, FIELD(beam), 1, MAX_BEAM, NULL, NULL,
     "hypotheses kept at every step; 1: greedy search", OPTION_COMMON},
    {"length-penalty", OPTION_REAL, FIELD(length_penalty), 0, 10, NULL, "A",
     "a hypothesis scores ln p / length^A; a larger A favours longer translations", 0},
    {"max-length-ratio", OPTION_REAL, FIELD(max_length_ratio), 0.1, 100, NULL, NULL,
     "a translation has at most this times the source's tokens, plus 20", OPTION_EXPERT},
    {"max-tokens", OPTION_INT, FIELD(max_tokens), 0, 8192, NULL, NULL,
     "a translation has at most N tokens, its end included; 0: no limit", 0},
    {"min-length", OPTION_INT, FIELD(min_length), 0, 8191, NULL, NULL,
     "a translation has at least N tokens before its end", 0},
    {"no-repeat-ngram", OPTION_INT, FIELD(no_repeat_ngram), 0, 64, NULL, "N",
     "never repeat a sequence of N tokens; 0: allow it", 0},
    {"unknown", OPTION_FLAG, FIELD(unknown), 0, 0, NULL, NULL,
     "allow <unk> in translations", OPTION_EXPERT},
    {"copy-unknown", OPTION_FLAG, FIELD(copy_unknown), 0, 0, NULL, NULL,
     "allow <unk> for unknown words of the source, and copy these words in its place", 0},
    {"sample", OPTION_FLAG, FIELD(sample), 0, 0, NULL, NULL,
     "draw translations from the model's distribution instead of searching", 0},
    {"temperature", OPTION_REAL, FIELD(temperature), 0.01, 100, NULL, NULL,
     "with --sample: below 1 favours probable tokens, above 1 improbable ones", 0},
    {"top-k", OPTION_INT, FIELD(top_k), 0, 1 << 24, NULL, NULL,
     "with --sample: only from the N most probable tokens; 0: from all", 0},
    {"top-p", OPTION_REAL, FIELD(top_p), 0.001, 1, NULL, NULL,
     "with --sample: only from the smallest set of tokens with this probability", 0},
    {"seed", OPTION_UINT64, FIELD(seed), 0, 0, NULL, NULL,
     "with --sample: another seed gives other samples", 0},
    {"shortlist", OPTION_FLAG, FIELD(shortlist), 0, 0, NULL, NULL,
     "for int8 weights: score only frequent tokens and translations of the source's, which is faster",
     0},
    {"batch-rows", OPTION_INT, FIELD(batch_rows), 0, 65536, NULL, NULL,
     "hypotheses computed together, of all sentences; fewer need less memory; 0: 84, with int8 weights 42", OPTION_EXPERT},
};
// clang-format on
const int search_option_count = sizeof search_options / sizeof *search_options;

bool search_check(const SearchConfig *c, Error *error)
{
    if (c->n_best > c->beam && !c->sample)
        return error_set(error, "`n-best` %d is more than `beam` %d, the number of hypotheses",
                         c->n_best, c->beam);
    if (c->shortlist && c->sample)
        return error_set(error, "`sample` draws from all tokens: leave out `shortlist`");
    if (c->max_tokens && c->min_length >= c->max_tokens)
        return error_set(error, "`min-length` %d must be less than `max-tokens` %d",
                         c->min_length, c->max_tokens);
    return true;
}

int search_rows(const SearchConfig *config)
{
    return config->sample ? config->n_best : config->beam;
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
    return log_probability / pow(length, config->length_penalty);
}

double search_normaliser(const real *z, int C)
{
    enum { PIECE = 512 };  // numbers, still in the first-level cache when they are summed
    real largest = z[0], all = 0;
    for (int first = 0; first < C; first += PIECE, z += PIECE) {
        int count = at_most(C - first, PIECE);
        real before = largest, here = vec_maximum(z, count), sum = 0;
        largest = here > before ? here : before;
#pragma omp simd reduction(+ : sum) simdlen(16)
        for (int c = 0; c < count; c++) sum += vec_exp(z[c] - largest);
        if (first) all *= vec_exp(before - largest);
        all += sum;
    }
    return (double)largest + log(all);  // the largest adds e^0 = 1 to the sum
}

bool sentence_check(const int *id, int length, const ModelConfig *model, bool source,
                    Error *error)
{
    int vocab = source ? config_source_vocab(model) : model->vocab;
    if (length < 1 || length > model->max_length)
        return error_set(error, "a sentence has %d tokens, but the model takes 1 to %d", length,
                         model->max_length);
    for (int i = 0; i < length; i++) {
        if (id[i] < 0 || id[i] >= vocab - 1)
            return error_set(error, "token %d is %d, but the vocabulary has 0 to %d", i + 1,
                             id[i], vocab - 2);
        if ((id[i] == ID_END) != (i == length - 1))
            return error_set(error, "token %d of %d is %s</s>, which ends a sentence", i + 1,
                             length, id[i] == ID_END ? "" : "not ");
    }
    return true;
}
