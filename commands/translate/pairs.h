/* pairs.h -- the sentence pairs of ./translate --score, --align, --exposure and --head-report:
 * sources and targets in two files, line by line, or lines of source TAB target. */
#pragma once

#include <signal.h>

#include "commands/translate/input.h"
#include "commands/translate/view.h"

typedef struct Pairs {
    const Bundle *bundle;
    Input *input;        // sources, or source TAB target (further columns are ignored)
    TextReader *target;  // the targets; or NULL
    FILE *news;          // for warnings, or NULL
    const char *option;  // "--score", for the error about a line that is no pair
    const char *done;    // "scored", for the warning that a long pair is not
    const volatile sig_atomic_t *stop;  // once it is not 0, no more pairs are read
    const uint64_t *shuffle;            // the seed of --shuffle-source; or NULL
} Pairs;

/* Adds the pair that begins with the line just read, and names its unknown words: both lists
 * need find_unknown. *too_long (=) whether a side was cut
 * because it is longer than the model takes. */
bool pairs_add(const Pairs *pairs, IdLines *source, IdLines *target, bool *too_long,
               const char *line, size_t length, Error *error);

/* One pair. Start with {0}; call pair_free at the end. */
typedef struct Pair {
    IdLines source, target;  // a line each, with the words of its tokens
    Snapshot *snapshot;      // NULL: a side is longer than the model takes
} Pair;

/* pair (=) the next one. TEXT_END: there is none, or *pairs->stop is set. */
TextResult pairs_next(const Pairs *pairs, Pair *pair, Error *error);
void pair_free(Pair *pair);

/* ---- likelihood.c: --score, the log probability of given translations ----
 *
 * For each pair, in the order of the input, one line: log p(target | source) in nats, </s>
 * included; or one JSON object,
 *
 *   {"line":1,"unknown":[],"unknown_target":[],"log_probability":-3.25,
 *    "tokens":["▁ein","▁Mann","</s>"],"log_probabilities":[-1.5,-1.25,-0.5]}
 *
 * A pair with a side longer than the model takes gives "nan", or null, and is not counted. At
 * the end: loss = -Σ log p / tokens, which equals training's validation loss of these pairs,
 * and perplexity = e^loss; with JSON as one more object,
 * {"pairs":…,"tokens":…,"loss":…,"perplexity":…}.
 *
 * If *pairs->stop is set, it ends after the current chunk and succeeds. */
bool likelihood_run(const Pairs *pairs, const Ensemble *ensemble, Workers *workers, bool json,
                    Error *error);

/* ---- alignment.c: --align, the links of given translations, compared with gold ones ----
 *
 * Without gold links it prints one line of links for each pair. With them it prints a table:
 * the alignment error rate of each layer and head, of the mean of a layer's heads and of their
 * norms, both at the decoder step that writes a word and at the next one, which reads it.
 *
 * If *pairs->stop is set, it ends after the current pair and succeeds. A pair with a side
 * longer than the model takes gives an empty line and is not compared. */
bool alignment_run(const Pairs *pairs, View *view, Error *error);

/* ---- exposure.c: --exposure, where greedy search ŷ parts from given translations y ----
 *
 * At each position t, over the sentences of at least t tokens, </s> included:
 *
 *   forced   mean of ln p(y_t | y_<t, x); how often no token is more probable than y_t
 *   free     mean of ln p(y_t | ŷ_<t, x) of the sentences in which ŷ is still running; how often
 *            ŷ_t = y_t, the most probable token after ŷ_<t
 *   parted   the share of all sentences in which ŷ_s ≠ y_s for an s ≤ t
 *   after    the same over all positions after the first ŷ_s ≠ y_s, while ŷ is running
 *
 * Ranzato et al. 2016 (arXiv 1511.06732) call the difference exposure bias. Prints a table, and
 * draws it at path, a PNG. */
bool exposure_run(const Pairs *pairs, const char *path, Error *error);
