/* exposure.h -- --exposure, where greedy search ŷ parts from given translations y.
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
#pragma once

#include "commands/translate/pairs.h"

bool exposure_run(const Pairs *pairs, const char *path, Error *error);
