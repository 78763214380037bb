/* search.h -- what is searched for, and how it is reported: shared by greedy search, beam search
 * and sampling.
 *
 * A hypothesis is a target sentence of 1 .. limit tokens that ends in </s>, and
 *
 *   log p(y | x) = Σ_t ln p(y_t | y_<t, x)          score = log p / lp(length),   </s> counted
 *   lp(n) = n^α                                     the length penalty, by default
 *   lp(n) = ((5 + n) / 6)^α                         that of Wu et al. 2016 (arXiv 1609.08144, §7)
 *
 * The searches look for the highest score. The last place that the limit leaves takes </s> only,
 * at the probability that the model gives it: so whatever is returned is a whole sentence, and its
 * log p is what scoring that sentence would say (but for --repetition-penalty: constraints.h).
 * <pad> is never produced, as it has no logit. <unk> is not produced unless asked for: it cannot be
 * turned back into text, and a vocabulary of whole words would use it for every word that it lacks.
 * Its probability is not given to the others, so that log p stays the model's. A search whose caller
 * knows what to put in its place (inference/copying.h) may produce as many as the source has. */
#ifndef INFERENCE_SEARCH_H
#define INFERENCE_SEARCH_H

#include "base/options.h"
#include "base/real.h"
#include "model/config.h"

#include <stdint.h>

enum { MAX_BEAM = 64 };

typedef enum { LENGTH_PENALTY_POWER, LENGTH_PENALTY_WU } LengthPenalty;

typedef struct SearchConfig {
    int beam;               // hypotheses kept at every step; 1: greedy
    int n_best;             // hypotheses returned, at most `beam` (or any number, if sampling)
    double length_penalty;  // α
    int length_penalty_form;  // a LengthPenalty
    double max_length_ratio;  // of target to source tokens; see search_limit
    int max_tokens;           // of a translation, </s> included; 0: no limit of its own
    int min_length;           // tokens that come before </s>, if the limit lets them
    bool unknown;             // may produce <unk>
    bool copy_unknown;        // may produce as many as the source has: the caller replaces them
    int no_repeat_ngram;      // no n tokens twice in a hypothesis; 0: they may be
    double repetition_penalty;  // θ >= 1; see constraints.h
    int alternatives;  // hypotheses that differ in their first free token; 0: not asked for
    bool sample;       // draw instead of searching; see sampling.h
    double temperature;
    int top_k;  // 0: all
    double top_p;
    uint64_t seed;
    int batch_rows;  // hypotheses of a batch, of all its sentences; at least one sentence's
    bool no_scores;  // score and log_probability are not asked for, where that is faster
} SearchConfig;

extern const SearchConfig search_default;  // beam 4, α 1, the best one, ratio 3

/* The table behind --help and the command line: a line for each field but the last. */
extern const Option search_options[];
extern const int search_option_count;

/* Whether the numbers fit each other; if not, says which option to change. */
bool search_check(const SearchConfig *config, Error *error);

/* How many hypotheses a sentence has at a step, at most; and how many are returned. */
int search_rows(const SearchConfig *config);
int search_results(const SearchConfig *config);

typedef struct Hypothesis {
    int *id;  // [length], the last is </s>
    int length;
    double score;            // log_probability / lp(length); NAN if not asked for
    double log_probability;  // nats
} Hypothesis;

/* What was found for one sentence. */
typedef struct Translation {
    Hypothesis *hypothesis;  // [count] best first, distinct; samples: as drawn
    int count;               // as asked for, or fewer where there are no more; 0: not searched
} Translation;

/* What a search is told of a sentence besides its source. */
typedef struct SearchTask {
    int limit;          // tokens, </s> included
    const int *prefix;  // [prefix_length] the forced beginning, fewer than limit
    int prefix_length;
    int unknowns;   // <unk> may come so often
    uint64_t line;  // its number in the user's input, which samples depend on
} SearchTask;

/* The most tokens, </s> included, of a translation of a source of `length` tokens:
 * min(max_length, ⌊ratio · length⌋ + 20 + prefix_length, max_tokens unless that is 0). */
int search_limit(const SearchConfig *config, const ModelConfig *model, int length,
                 int prefix_length);

double search_score(const SearchConfig *config, double log_probability, int length);

/* ln Σ_c e^(z_c) of z [C], never below the largest z; NaN if a number is NaN or +infinity. */
double search_normaliser(const real *z, int C);

/* Whether all of z [C] are numbers, neither NaN nor infinite. */
bool search_finite(const real *z, int C);

/* The largest of z [C], and its place, the first of equals. */
real search_maximum(const real *z, int C);
int search_largest(const real *z, int C);

/* Whether the network can take a sentence of the source (or of the target): 1 .. max_length tokens
 * of its vocabulary without <pad>, </s> at the end and nowhere else. If not, says why. */
bool sentence_check(const int *id, int length, const ModelConfig *model, bool source,
                    Error *error);

#endif
