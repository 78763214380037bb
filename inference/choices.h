/* choices.h -- the best allowed tokens of a live hypothesis. */
#pragma once

#include "base/best.h"
#include "inference/predictor.h"

/* token [most] (=) the best tokens of row r with their logits, as best_add keeps them; or the one
 * that is forced. Call it after predictor_step for r = 0, 1, … in order. *normaliser (=) as that
 * of predictor_row; NULL: not needed
 * least: tokens whose ln p is lower may be left out, which saves time; -INFINITY: none may
 * Returns how many there are; -1: a score is not finite. */
int choices_find(Best *token, int most, double least, double *normaliser, Predictor *predictor,
                 const Prefix *prefix, int r);

/* token [most] (=) the best of those of z [C] that are above `least`; returns how many there are. */
int choices_keep(Best *token, int most, const real *z, int C, real least);
