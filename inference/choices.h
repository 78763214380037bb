/* choices.h -- the tokens that a live hypothesis may take next.
 *
 *   forced      the tokens of the prefix constraint; </s> at the limit; one of the placeholders that
 *               the hypothesis lacks, if these and </s> need all tokens up to the limit
 *   forbidden   <unk>, as far as search.h forbids it
 *               </s>, before min_length tokens, or while the hypothesis lacks a placeholder
 *               a placeholder that the hypothesis has as often as the source
 *               inside a character of bytes, all but the bytes that UTF-8 allows next, which no
 *               other rule forbids; elsewhere a byte that begins no character, or one that would
 *               not end before the limit
 *               c, if the last n-1 tokens and c form an n-gram that the hypothesis already has
 *               (no_repeat_ngram n; Paulus et al. 2017, arXiv 1705.04304, §2.5), unless c is a
 *               placeholder that it lacks
 *
 * This changes no probability: log p stays the model's, and the other tokens do not share the
 * forbidden ones' probability. If all tokens are forbidden, the hypothesis ends. */
#pragma once

#include "base/best.h"
#include "inference/predictor.h"

/* token [most] (=) the best allowed tokens of row r with their logits, as best_add keeps them; or
 * one: the one that is forced or, if the config samples, is drawn. Call it after predictor_step
 * for r = 0, 1, … in order. *normaliser (=) as that of predictor_row; NULL: not needed
 * least: tokens whose ln p is lower may be left out, which saves time; -INFINITY: none may
 * Returns how many there are; -1: a score is not finite. */
int choices_find(Best *token, int most, double least, double *normaliser, Predictor *predictor,
                 const Prefix *prefix, int r);

/* Row r: the scores of forbidden tokens become -infinity. */
void choices_forbid(const Scores *scores, const Predictor *predictor, int r,
                    const SearchTask *task);

/* token [most] (=) the places of the best of z [C] that are above `least`; returns how many there are. */
int choices_keep(Best *token, int most, const real *z, int C, real least);

/* left [PLACEHOLDERS] (=) how often a hypothesis that begins with written [count] must still get each
 * placeholder; negative: it has too many. Returns the sum of those that are not. */
int choices_placeholders(int *left, const SearchTask *task, const int *written, int count);
