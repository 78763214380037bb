/* config.c -- the options of training; see config.h. */
#include "training/config.h"

#include "training/schedule.h"

#include <stddef.h>
#include <stdio.h>

static const char *const CRITERIA[] = {"loss", "bleu", "chrf", NULL};
static const char *const SCHEDULES[] = {"inverse-sqrt", "cosine", "linear", "constant", NULL};

enum { MILLIARD = 1000000000 };
#define FIELD(name) offsetof(TrainingConfig, name)
// clang-format off
const Option training_options[] = {
    {"seed", OPTION_UINT64, FIELD(seed), 0, 9e18, NULL, NULL,
     "what all randomness follows from", false},
    {"max-updates", OPTION_INT, FIELD(max_updates), 0, MILLIARD, NULL, NULL,
     "stop after this many updates; 0: no limit", false},
    {"max-epochs", OPTION_INT, FIELD(max_epochs), 0, MILLIARD, NULL, NULL,
     "stop after this many passes over the corpus; 0: no limit", false},
    {"batch-tokens", OPTION_INT, FIELD(batch_tokens), 1, MILLIARD, NULL, NULL,
     "source and target tokens of an update, at most", false},
    {"micro-tokens", OPTION_INT, FIELD(micro_tokens), 1, 1 << 20, NULL, NULL,
     "tokens of a micro-batch, which a thread works on at a time", false},
    {"accumulators", OPTION_INT, FIELD(accumulators), 0, MAX_ACCUMULATORS, NULL, NULL,
     "blocks that gradients are summed in, each for one thread of all ranks; 0: one for each "
     "processor, 2 to 8; 1: all threads share it; with 0 or 1 at least one for each rank",
     false},
    {"learning-rate", OPTION_REAL, FIELD(learning_rate), 1e-8, 1, NULL, NULL,
     "the peak of the schedule", false},
    {"schedule", OPTION_CHOICE, FIELD(schedule), 0, 0, SCHEDULES, NULL,
     "the learning rate after warm-up; cosine and linear reach 0 at --max-updates", false},
    {"warmup", OPTION_INT, FIELD(warmup), 0, MILLIARD, NULL, NULL,
     "updates until the peak", false},
    {"beta1", OPTION_REAL, FIELD(beta1), 0, 0.9999, NULL, NULL,
     "Adam's decay of the mean gradient", false},
    {"beta2", OPTION_REAL, FIELD(beta2), 0, 0.99999, NULL, NULL,
     "Adam's decay of the mean squared gradient", false},
    {"epsilon", OPTION_REAL, FIELD(epsilon), 1e-16, 1, NULL, NULL,
     "Adam's addition to the root", false},
    {"weight-decay", OPTION_REAL, FIELD(weight_decay), 0, 100, NULL, NULL,
     "AdamW's: an update takes this share of a matrix, times the learning rate; 0: none",
     false},
    {"clip-norm", OPTION_REAL, FIELD(clip_norm), 0, 1e9, NULL, NULL,
     "scale a longer gradient down to this norm; 0: never", false},
    {"ema", OPTION_REAL, FIELD(ema), 0, 0.99999, NULL, NULL,
     "decay of a moving average of the weights, which is what is validated and saved as best; "
     "0: none", false},
    {"label-smoothing", OPTION_REAL, FIELD(label_smoothing), 0, 0.9, NULL, NULL,
     "share of the target's probability spread over all tokens", false},
    {"dropout", OPTION_REAL, FIELD(dropout), 0, 0.9, NULL, NULL,
     "on embeddings and on what each sublayer adds", false},
    {"attention-dropout", OPTION_REAL, FIELD(attention_dropout), 0, 0.9, NULL, NULL,
     "on attention probabilities", false},
    {"activation-dropout", OPTION_REAL, FIELD(activation_dropout), 0, 0.9, NULL, NULL,
     "inside the feed-forward network", false},
    {"r-drop", OPTION_REAL, FIELD(r_drop), 0, 100, NULL, NULL,
     "R-Drop: each sentence goes twice through the network, and this weighs how far dropout "
     "drives the two apart; an update takes twice the time; 0: once", false},
    {"valid-every", OPTION_INT, FIELD(valid_every), 0, MILLIARD, NULL, NULL,
     "validate after every so many updates", false},
    {"valid-epochs", OPTION_INT, FIELD(valid_epochs), 0, MILLIARD, NULL, NULL,
     "and after every so many epochs; if both are 0, after every epoch", false},
    {"valid-translations", OPTION_INT, FIELD(valid_translations), 0, MILLIARD, NULL, NULL,
     "validation sentences that are translated, for BLEU, chrF and exact matches", false},
    {"best", OPTION_CHOICE, FIELD(best), 0, 0, CRITERIA, NULL,
     "what makes a validation the best, for best.safetensors and --patience", false},
    {"patience", OPTION_INT, FIELD(patience), 0, MILLIARD, NULL, NULL,
     "stop after this many validations without a better one; 0: never", false},
    {"average", OPTION_INT, FIELD(average), 0, MAX_SNAPSHOTS, NULL, NULL,
     "validate, and save as best, the mean of the weights as of the last so many validations, "
     "kept as files; 0: no mean", false},
    {"keep-last", OPTION_INT, FIELD(keep_last), 0, MAX_SNAPSHOTS, NULL, NULL,
     "keep the weights as of the last so many validations, as update-N.safetensors", false},
    {"log-every", OPTION_INT, FIELD(log_every), 1, MILLIARD, NULL, NULL,
     "updates between two lines of metrics.jsonl", false},
};
// clang-format on
const int training_option_count = sizeof training_options / sizeof *training_options;

TrainingConfig training_defaults(void)
{
    return (TrainingConfig){.seed = 1,
                            .batch_tokens = 8192,
                            .micro_tokens = 512,
                            .learning_rate = 0.001,
                            .schedule = SCHEDULE_INVERSE_SQRT,
                            .warmup = 4000,
                            .beta1 = 0.9,
                            .beta2 = 0.98,
                            .epsilon = 1e-8,
                            .clip_norm = 1,
                            .label_smoothing = 0.1,
                            .dropout = 0.1,
                            .valid_translations = 500,
                            .log_every = 50};
}

const char *training_advice(char text[ADVICE_TEXT], const TrainingConfig *c)
{
    char clip[40] = "--clip-norm 1";
    if (c->clip_norm > 0) snprintf(clip, sizeof clip, "a --clip-norm below %g", c->clip_norm);
    snprintf(text, ADVICE_TEXT, "try a --learning-rate below %g, a --warmup above %d or %s",
             c->learning_rate, c->warmup, clip);
    return text;
}
