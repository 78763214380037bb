/* search.h -- the settings, scores and results of greedy search, beam search and sampling.
 *
 * A hypothesis is a target sentence of 1 .. limit tokens that ends in </s>. Its log-probability
 * and score count </s>:
 *
 *   log p(y | x) = Σ_t ln p(y_t | y_<t, x)          score = log p / length^α
 *
 * The searches look for the highest score. At the limit only </s> is allowed, at the
 * probability that the model gives it. Every hypothesis is therefore a whole sentence, and its
 * log p is what scoring.h computes for it.
 *
 * <pad> is never produced: it has no logit. <unk> is produced only if `unknown` is set, since
 * it cannot be turned back into text, or, with `copy_unknown`, as often as the source has it:
 * the caller then replaces it (copying.h). A hypothesis has each placeholder of the vocabulary
 * (data/tokenizer.h) as often as the source. Its bytes make characters of UTF-8. The other tokens keep
 * their probabilities, so log p stays the model's. */
#pragma once

#include "base/options.h"
#include "data/tokenizer.h"
#include "inference/ensemble.h"

enum { MAX_BEAM = 64 };

typedef struct SearchConfig {
    int beam;                 // hypotheses kept at every step; 1: greedy
    int n_best;               // hypotheses returned; at most `beam`, unless sampling
    double length_penalty;    // α
    double max_length_ratio;  // of target to source tokens; see search_limit
    int max_tokens;           // of a translation, </s> included; 0: no such limit
    int min_length;           // tokens before </s>, if the limit allows it
    bool unknown;             // allow <unk>
    bool copy_unknown;        // allow <unk> as often as the source has it
    int no_repeat_ngram;      // no n-gram of this length twice in a hypothesis; 0: allowed
    bool sample;              // draw tokens instead of searching; see sampling.h
    double temperature;
    int top_k;  // 0: all
    double top_p;
    uint64_t seed;
    int batch_rows;  // hypotheses in a batch, of all its sentences; one sentence at least; 0: as
                     // many as are fast
    bool shortlist;  // only tokens of the model's shortlist (shortlist.h)
    bool no_scores;  // do not compute score and log_probability where that is faster
} SearchConfig;

extern const SearchConfig search_default;  // beam 4, n-best 1, α 1, ratio 3
extern const SearchConfig search_copying;  // the same with copy_unknown, for copying.h

/* The options, one for each field except the last. */
extern const Option search_options[];  // the first is n-best: requests of ./serve name it
extern const int search_option_count;

/* Checks that the settings fit each other. If not, the error names the option to change. */
bool search_check(const SearchConfig *config, Error *error);

/* The largest number of hypotheses of a sentence at a step. */
int search_rows(const SearchConfig *config);

typedef struct Hypothesis {
    int *id;  // [length], the last is </s>
    int length;
    double score;            // log_probability / length^α; NAN if not computed
    double log_probability;  // nats
    double *each;            // [length] ln p of each token, their sum is log_probability
} Hypothesis;

/* The result for one sentence. */
typedef struct Translation {
    Hypothesis *hypothesis;  // [count] distinct, best first; samples: as drawn
    int count;               // n_best, or fewer if there are no more; 0: not searched
    int limit;               // tokens that a hypothesis could have
} Translation;

/* A sentence, its limits and its constraints. */
typedef struct SearchTask {
    const int *source;  // [length]
    int length;
    int limit;          // tokens, </s> included: search_limit, or what the prefix, the
                        // placeholders that it lacks and </s> need, if that is more
    const int *prefix;  // [prefix_length] prefix constraint: the forced first tokens
    int prefix_length;  // less than limit
    int unknowns;       // largest number of <unk>
    int placeholder;    // id of <ph1>; 0: the vocabulary has no placeholders
    int placeholders;   // number of placeholders in the source, the sum of the next ones
    int each[PLACEHOLDERS];
    int first_byte;      // id of <0x00> (tokenizer_first_byte), or 0
    uint64_t line;       // number of the line in the user's input; samples depend on it
    Translation *found;  // the result; each hypothesis has memory for `limit` tokens
} SearchTask;

/* Sentences that are searched together. */
typedef struct SearchBatch {
    const Ensemble *ensemble;
    const SearchConfig *config;
    Packed source;           // those of the tasks
    const SearchTask *task;  // [S]
} SearchBatch;

/* Greedy search, beam search or sampling (beam.c): the hypotheses of all sentences are extended
 * together, a token a step. Fills in the tasks' results. arena: grows if it is too small. false: not
 * enough memory, or a number of the network that is not finite. */
bool beam_search(const SearchBatch *batch, Arena *arena, Error *error);

/* The limit of a translation, </s> included, for a source of `length` tokens without placeholders:
 * min(max_length, ⌊ratio · length⌋ + 20 + prefix_length, max_tokens unless that is 0). */
int search_limit(const SearchConfig *config, const ModelConfig *model, int length,
                 int prefix_length);

/* log_probability / length^α */
double search_score(const SearchConfig *config, double log_probability, int length);

/* Log-sum-exp of z [C], ln Σ_c e^(z_c); at least the largest z. NaN if a z is NaN or
 * +infinity. */
double search_normaliser(const real *z, int C);

/* Checks a sentence of the source (or of the target): 1 .. max_length tokens of the vocabulary
 * without <pad>, with </s> at the end and nowhere else. */
bool sentence_check(const int *id, int length, const ModelConfig *model, bool source,
                    Error *error);
