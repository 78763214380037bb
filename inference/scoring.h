/* scoring.h -- the log-probability of given translations, token by token (teacher forcing).
 *
 *     double *each = malloc(sizeof *each * target.rows);
 *     if (!scoring_run(each, &ensemble, &source, &target, workers, NULL, error)) return false;
 *
 * Sentence s has log p(y | x) = Σ each[target.start[s] .. target.start[s+1]-1]. A corpus has
 * the loss -Σ each / tokens, which is the validation loss of training, and the perplexity
 * e^loss. The batches depend only on the sentences, so the number of threads does not change
 * the result, not by one bit. */
#pragma once

#include <signal.h>

#include "base/workers.h"
#include "inference/ensemble.h"

enum { SOFT_TARGETS = 8 };  // of each model

/* log_probability [target->rows] (=) ln p(y_t | y_<t, x). Both sides: the same number of
 * sentences, of 1 .. max_length tokens, the last one </s>.
 * soft [target->rows,models,SOFT_TARGETS] (=) the most probable tokens in place of y_t, for
 * Objective.soft; NULL: not needed
 * stop: a flag that a signal handler sets, checked between batches; NULL if not needed. If it
 * was set: false, with an empty error. false also for a sentence that a model cannot take, not
 * enough memory, or a number that is not finite. */
bool scoring_run(double *log_probability, SoftTarget *soft, const Ensemble *ensemble,
                 const Packed *source, const Packed *target, Workers *workers,
                 const volatile sig_atomic_t *stop, Error *error);
