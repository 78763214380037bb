/* metrics.h -- metrics.jsonl: one JSON object a line, for scripts and for the loss curve.
 *
 *   {"type":"train","update":…,"epoch":…,"loss":…,"objective":…,"ppl":…,"learning_rate":…,
 *    "gradient_norm":…,"tokens_per_second":…,"gflops":…,"seconds":…}
 *   {"type":"valid","update":…,"epoch":…,"loss":…,"ppl":…,"exact":…,"bleu":…,"chrf":…,"seconds":…}
 *
 * loss is the mean negative log-likelihood of a target token in nats, ppl = e^loss; objective
 * is the label-smoothed loss that is minimised; gradient_norm is before clipping; tokens are
 * source plus target tokens, </s> included; gflops counts the matrix products that the
 * mathematics needs. A train line is the mean over the updates since the line before it: there
 * is one for each of the first 20 updates, every 5 up to update 500, and then every 50. exact,
 * bleu and chrf are in percent, of the validation sentences that were translated (greedily);
 * null if none were. seconds is the training time so far. */
#pragma once

#include "base/error.h"

typedef enum { METRICS_TRAIN, METRICS_VALID } MetricsKind;

typedef struct MetricsLine {
    MetricsKind kind;
    long long update, epoch;
    double loss, seconds;
    double ppl;  // e^loss; metrics_add computes it
    double objective, learning_rate, gradient_norm, tokens_per_second,
        gflops;                // of train lines
    double exact, bleu, chrf;  // of valid lines
} MetricsLine;

/* The file and all its lines: those of an interrupted run, and those written since. */
typedef struct Metrics {
    FILE *file;
    char *path;
    MetricsLine *line;             // [count]
    size_t count, size, left_out;  // left_out: of the file, since they are not of a training
    double seconds;                // the training time at the last line
} Metrics;

/* Opens path for adding lines. Drops the lines of updates after `update`, and of validations after
 * update `validated`: they are of a run that was killed after its last checkpoint, and will be
 * written again. */
bool metrics_open(Metrics *metrics, const char *path, long long update, long long validated,
                  Error *error);

/* Writes all lines to the path, whose file is no longer there, and opens that one. */
bool metrics_write(Metrics *metrics, Error *error);
bool metrics_add(Metrics *metrics, const MetricsLine *line, Error *error);

/* number (=) "update", "loss" or another key of all lines of one kind; returns their number.
 * Pass NULL to count them. */
int metrics_column(double *number, const Metrics *metrics, MetricsKind kind, const char *key);

void metrics_close(Metrics *metrics);
