/* search.h -- what is searched for, and how it is reported: shared by greedy and beam search.
 *
 * A hypothesis is a target sentence of 1 .. limit tokens that ends in </s>, and
 *
 *   log p(y | x) = Σ_t ln p(y_t | y_<t, x)          score = log p / length^α,   </s> counted
 *
 * Both searches look for the highest score. The last place that the limit leaves takes </s> only,
 * at the probability that the model gives it: so whatever is returned is a whole sentence, and its
 * log p is what scoring that sentence would say. <pad> is never produced, as it has no logit.
 * <unk> is not produced unless asked for: it cannot be turned back into text, and a vocabulary of
 * whole words would use it for every word that it lacks. Its probability is not given to the
 * others, so that log p stays the model's. */
#ifndef INFERENCE_SEARCH_H
#define INFERENCE_SEARCH_H

#include "base/options.h"
#include "base/real.h"
#include "model/config.h"

enum { MAX_BEAM = 64 };

typedef struct SearchConfig {
    int beam;                 // hypotheses kept at every step; 1: greedy
    int n_best;               // hypotheses returned, at most `beam`
    double length_penalty;    // α
    double max_length_ratio;  // of target to source tokens; see search_limit
    int max_tokens;           // of a translation, </s> included; 0: no limit of its own
    bool unknown;             // may produce <unk>
} SearchConfig;

extern const SearchConfig search_default;  // beam 4, α 1, the best one, ratio 3

/* The table behind --help and the command line: --beam, --n-best, --length-penalty,
 * --max-length-ratio, --max-tokens, --unknown. */
extern const Option search_options[];
extern const int search_option_count;

/* Whether the numbers fit each other; if not, says which option to change. */
bool search_check(const SearchConfig *config, Error *error);

typedef struct Hypothesis {
    int *id;  // [length], the last is </s>
    int length;
    double score;            // log_probability / length^α
    double log_probability;  // nats
} Hypothesis;

/* What was found for one sentence. */
typedef struct Translation {
    Hypothesis *hypothesis;  // [count] distinct, best first
    int count;               // n_best, or fewer where there are no more; 0: not searched
} Translation;

/* The most tokens, </s> included, of a translation of a source of `length` tokens:
 * min(max_length, ⌊ratio · length⌋ + 20, max_tokens unless that is 0). */
int search_limit(const SearchConfig *config, const ModelConfig *model, int length);

double search_score(const SearchConfig *config, double log_probability, int length);

/* ln Σ_c e^(z_c) of z [C], never below the largest z; NaN if a number is NaN or +infinity. */
double search_normaliser(const real *z, int C);

/* Whether the network can take a sentence of the source (or of the target): 1 .. max_length tokens
 * of its vocabulary without <pad>, </s> at the end and nowhere else. If not, says why. */
bool sentence_check(const int *id, int length, const ModelConfig *model, bool source,
                    Error *error);

#endif
