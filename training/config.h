/* config.h -- how a model is trained: every number that a run needs besides the model's shape. */
#ifndef TRAINING_CONFIG_H
#define TRAINING_CONFIG_H

#include "base/options.h"

#include <stdint.h>

enum { MAX_ACCUMULATORS = 4096 };

typedef struct TrainingConfig {
    uint64_t seed;
    int max_updates, max_epochs;   // 0: no limit
    int batch_tokens;              // source + target tokens of an update, at most
    int micro_tokens;              // of a micro-batch, about
    int accumulators;              // gradient blocks that micro-batches are summed in; 0: by processors
    double learning_rate;          // the peak of the schedule
    int schedule;                  // a Schedule
    int warmup;                    // updates
    double beta1, beta2, epsilon;  // Adam's
    double clip_norm;              // 0: no clipping
    double label_smoothing;
    double dropout, attention_dropout, activation_dropout;
    int valid_every;               // updates; 0: once an epoch
    int valid_translations;        // how many validation sentences are translated for scores
    int patience;                  // validations without a better loss before stopping; 0: never
    int log_every;                 // updates between two lines of metrics.jsonl
} TrainingConfig;

extern const Option training_options[];
extern const int training_option_count;

TrainingConfig training_defaults(void);

#endif
