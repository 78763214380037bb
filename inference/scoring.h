/* scoring.h -- how probable given translations are: teacher forcing, token by token.
 *
 *     double *each = malloc(sizeof *each * target.rows);
 *     if (!scoring_run(each, &ensemble, &source, &target, workers, NULL, error)) return false;
 *
 * Sentence s has log p(y | x) = Σ each[target.start[s] .. target.start[s+1]-1], and a corpus the
 * loss -Σ each / tokens, which is what training calls the validation loss, and the perplexity
 * e^loss. Which sentences share a batch depends on the sentences alone, so the number of threads
 * changes nothing, not one bit. */
#ifndef INFERENCE_SCORING_H
#define INFERENCE_SCORING_H

#include <signal.h>

#include "base/workers.h"
#include "inference/ensemble.h"

/* log_probability [target->rows] (=) ln p(y_t | y_<t, x). Both sides: sentences of
 * 1 .. max_length tokens, the last one </s>, as many targets as sources.
 * stop: NULL, or a flag that a signal handler sets, looked at between batches; then false with an
 * empty sentence. false, too: a sentence that a model cannot take, memory, numbers that are not
 * finite. */
bool scoring_run(double *log_probability, const Ensemble *ensemble, const Packed *source,
                 const Packed *target, Workers *workers, const volatile sig_atomic_t *stop,
                 Error *error);

#endif
