/* likelihood.h -- ./translate --score: the log probability of given translations.
 *
 * For each pair, in the order of the input, one line: log p(target | source) in nats, </s>
 * included; or one JSON object,
 *
 *   {"line":1,"log_probability":-3.25,"tokens":["▁ein","▁Mann","</s>"],
 *    "log_probabilities":[-1.5,-1.25,-0.5]}
 *
 * A pair with a side longer than the model takes gives "nan", or null, and is not counted. At
 * the end: loss = -Σ log p / tokens, which equals training's validation loss of these pairs,
 * and perplexity = e^loss; with JSON as one more object,
 * {"pairs":…,"tokens":…,"loss":…,"perplexity":…}. */
#ifndef COMMANDS_TRANSLATE_LIKELIHOOD_H
#define COMMANDS_TRANSLATE_LIKELIHOOD_H

#include <signal.h>

#include "commands/translate/pairs.h"
#include "inference/scoring.h"

typedef struct Likelihood {
    /* the caller sets */
    Pairs pairs;
    const Ensemble *ensemble;
    Workers *workers;
    FILE *out;
    bool json;
    /* results */
    double log_probability;              // Σ, nats
    long long tokens, scored, too_long;  // the last two count pairs
} Likelihood;

/* If *stop is set, it ends after the current chunk and succeeds. */
bool likelihood_run(Likelihood *likelihood, const volatile sig_atomic_t *stop, Error *error);

#endif
