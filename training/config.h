/* config.h -- the options of training: everything but the model's shape and the data. */
#pragma once

#include "base/options.h"

enum { MAX_ACCUMULATORS = 4096 };

/* The measure that compares validations. */
typedef enum { BEST_LOSS, BEST_BLEU, BEST_CHRF } Criterion;

typedef enum { OPTIMIZER_ADAM, OPTIMIZER_MUON } OptimizerName;

/* The course of the learning rate (optimizer.c). */
typedef enum {
    SCHEDULE_INVERSE_SQRT,
    SCHEDULE_COSINE,
    SCHEDULE_LINEAR,
    SCHEDULE_CONSTANT
} Schedule;

typedef struct TrainingConfig {
    uint64_t seed;
    int max_updates, max_epochs;   // 0: no limit
    int batch_tokens;              // source + target tokens of an update, at most
    int micro_tokens;              // of a micro-batch, about
    int accumulators;              // blocks that gradients are summed in; 0: automatic
    double learning_rate;          // the peak of the schedule
    int schedule;                  // a Schedule
    int warmup;                    // updates
    int optimizer;                 // an OptimizerName
    double beta1, beta2, epsilon;  // Adam's
    double weight_decay;           // decoupled, of matrices; 0: none
    double clip_norm;              // 0: no clipping
    double ema;                    // decay of the moving average of the weights; 0: none
    double label_smoothing;
    double r_drop;           // weight of R-Drop's divergence; 0: no R-Drop
    double augment;          // share of the pairs that are changed (data/augment.h)
    double both_directions;  // share of max_updates, at first, that learn both
    double guide_alignment;  // weight of the loss of a guided head (guide.h); 0: none
    double teacher_weight;  // λ, the share of the teachers in the target distribution (loss.c)
    double dropout, attention_dropout, activation_dropout;
    int valid_every, valid_epochs;  // updates, epochs; both 0: once an epoch
    int valid_translations;         // validation sentences to translate for scores
    int best;                       // a Criterion
    int patience;   // validations without a better one before stopping; 0: never
    int precision;  // a Precision (model/config.h)
} TrainingConfig;

extern const Option training_options[];
extern const int training_option_count;

TrainingConfig training_defaults(void);

/* Advice after a loss that is not finite: "try a `learning-rate` below 0.005, …". */
enum { ADVICE_TEXT = 128 };
const char *training_advice(char text[ADVICE_TEXT], const TrainingConfig *config);
