/* metrics.h -- metrics.jsonl: one JSON object a line, for scripts and for the loss curve.
 *
 *   {"type":"train","update":…,"epoch":…,"loss":…,"objective":…,"ppl":…,"learning_rate":…,
 *    "gradient_norm":…,"tokens_per_second":…,"gflops":…,"seconds":…,
 *    "gradient_norm_q":…,"gradient_norm_k":…,"gradient_norm_v":…}
 *   {"type":"valid","update":…,"epoch":…,"loss":…,"ppl":…,"exact":…,"bleu":…,"chrf":…,"seconds":…}
 *
 * loss is the mean negative log-likelihood of a target token in nats, ppl = e^loss; objective is
 * the label-smoothed loss that is minimised; gradient_norm is before clipping; tokens are source
 * plus target tokens, </s> included; gflops counts the matrix products that the mathematics needs.
 * A train line is the mean over the updates since the one before. exact, bleu and chrf are in
 * percent, of the validation sentences that were translated (greedily); null if none were.
 * seconds is the training time so far. gradient_norm_q, _k and _v are those of three tensors alone,
 * W_Q, W_K and W_V of one decoder layer's encoder-decoder attention (--watch-layer), in the last of
 * the updates. */
#ifndef TRAINING_METRICS_H
#define TRAINING_METRICS_H

#include "base/error.h"

#include <stdio.h>

typedef struct TrainLine {
    long long update, epoch;
    double loss, objective, learning_rate, gradient_norm, tokens_per_second, gflops, seconds;
    double norm_q, norm_k, norm_v;
} TrainLine;

typedef struct ValidLine {
    long long update, epoch;
    double loss, exact, bleu, chrf, seconds;
} ValidLine;

/* The file and all its lines: those of an interrupted run, and those written since. */
typedef struct Metrics {
    FILE *file;
    char *path;
    TrainLine *train;  // [train_count]
    ValidLine *valid;  // [valid_count]
    int train_count, valid_count;
} Metrics;

/* Opens path for adding lines. Lines of updates after `update` are dropped: they are of a run
 * that was killed after its last checkpoint, and will be written again. */
bool metrics_open(Metrics *metrics, const char *path, long long update, Error *error);
bool metrics_train(Metrics *metrics, const TrainLine *line, Error *error);
bool metrics_valid(Metrics *metrics, const ValidLine *line, Error *error);

/* The training time that the last line tells of; 0 if there is none. */
double metrics_seconds(const Metrics *metrics);

void metrics_close(Metrics *metrics);

#endif
