/* constraints.h -- tokens that a hypothesis must or must not take next.
 *
 *   forced      the tokens of the prefix constraint; </s> at the limit
 *   forbidden   <unk>, as far as search.h forbids it
 *               </s>, before min_length tokens
 *               c, if the last n-1 tokens and c form an n-gram that the hypothesis already has
 *               (no_repeat_ngram n; Paulus et al. 2017, arXiv 1705.04304, §2.5)
 *
 * This changes no probability: log p stays the model's, and the other tokens do not share the
 * forbidden ones' probability. If all tokens are forbidden, the hypothesis ends. */
#pragma once

#include "inference/predictor.h"

enum { NOTHING_FORCED = -1 };

/* The token that must come at `step` (1, 2, …), or NOTHING_FORCED. */
int constraints_forced(const SearchTask *task, int step);

/* z [C], the scores of row r: forbidden tokens get -infinity. */
void constraints_apply(real *z, const Predictor *predictor, int r, const SearchTask *task);
