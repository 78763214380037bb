/* constraints.h -- what a hypothesis may not say next, and what it must.
 *
 *   forced      the tokens of --prefix; </s> in the last place that the limit leaves
 *   forbidden   <unk>, unless asked for, or as often as the task allows (search.h)
 *               </s>, before --min-length tokens
 *               c, if the last n-1 tokens and c are an n-gram that the hypothesis has already
 *               (--no-repeat-ngram n; Paulus et al. 2017, arXiv 1705.04304, §2.5)
 *   dearer      a token that the hypothesis has already: ln p'(c) = θ ln p(c)
 *               (--repetition-penalty θ)
 *
 * What is forced or forbidden changes no probability: log p stays the model's, and the others do
 * not share what is taken away. θ does: ln p' is what the search adds up. Keskar et al. 2019 (arXiv
 * 1909.05858, §4.1) divide the logit by θ instead; but logits are defined up to a constant only, so
 * that the result depends on their sign. ln p is never positive, so θ >= 1 always makes dearer, and
 * the bound of beam.c holds. If everything is forbidden, the hypothesis ends. */
#ifndef INFERENCE_CONSTRAINTS_H
#define INFERENCE_CONSTRAINTS_H

#include "inference/search.h"

enum { NOTHING_FORCED = -1 };

/* The token that must come in place `step` (1, 2, …), or NOTHING_FORCED. */
int constraints_forced(const SearchTask *task, int step);

/* Whether anything depends on what was written: then constraints_apply wants it. */
bool constraints_look_back(const SearchTask *task, const SearchConfig *config);

/* z [C] becomes what may be said in place `step`: -infinity is forbidden, and z - normaliser is
 * ln p'. written [step-1], or NULL if nothing looks back. normaliser is used for θ only. */
void constraints_apply(real *z, int C, double normaliser, const int *written, int step,
                       const SearchTask *task, const SearchConfig *config);

#endif
