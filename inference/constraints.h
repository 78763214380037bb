/* constraints.h -- tokens that a hypothesis must or must not take next.
 *
 *   forced      the tokens of the prefix constraint; </s> at the limit
 *   forbidden   <unk>, as far as search.h forbids it
 *               </s>, before min_length tokens
 *               c, if the last n-1 tokens and c form an n-gram that the hypothesis already has
 *               (no_repeat_ngram n; Paulus et al. 2017, arXiv 1705.04304, §2.5)
 *   penalised   a token that the hypothesis already has: ln p'(c) = θ ln p(c)
 *               (repetition_penalty θ)
 *
 * Forcing and forbidding changes no probability: log p stays the model's, and the other tokens
 * do not share the forbidden ones' probability. θ does change it: the search adds up ln p'.
 * Keskar et al. 2019 (arXiv 1909.05858, §4.1) divide the logit by θ instead; but a constant may
 * be added to all logits, so that the result depends on their sign. ln p is never positive. θ
 * >= 1 therefore always makes a token less probable, and the bound of beam.c holds. If all
 * tokens are forbidden, the hypothesis ends. */
#pragma once

#include "inference/predictor.h"

enum { NOTHING_FORCED = -1 };

/* The token that must come at `step` (1, 2, …), or NOTHING_FORCED. */
int constraints_forced(const SearchTask *task, int step);

/* z [C], the scores of row r: forbidden tokens get -infinity, and then z - normaliser is ln p'.
 * Only θ reads normaliser. */
void constraints_apply(real *z, double normaliser, const Predictor *predictor, int r,
                       const SearchTask *task);
