/* config.c -- the options of training; see config.h. */
#include "training/config.h"

#include "model/config.h"

static const char *const CRITERIA[] = {"loss", "bleu", "chrf", NULL};
static const char *const OPTIMIZERS[] = {"adam", "muon", NULL};
static const char *const SCHEDULES[] = {"inverse-sqrt", "cosine", "linear", "constant", NULL};

enum { MILLIARD = 1000000000 };
#define FIELD(name) offsetof(TrainingConfig, name)
// clang-format off
const Option training_options[] = {
    {"seed", OPTION_UINT64, FIELD(seed), 0, 9e18, NULL, NULL,
     "seed of all random numbers", 0},
    {"max-updates", OPTION_INT, FIELD(max_updates), 0, MILLIARD, NULL, NULL,
     "stop after this many updates; 0: no limit", OPTION_COMMON},
    {"max-epochs", OPTION_INT, FIELD(max_epochs), 0, MILLIARD, NULL, NULL,
     "stop after this many passes over the corpus; 0: no limit", 0},
    {"batch-tokens", OPTION_INT, FIELD(batch_tokens), 1, MILLIARD, NULL, NULL,
     "maximum of source plus target tokens in an update", 0},
    {"micro-tokens", OPTION_INT, FIELD(micro_tokens), 1, 1 << 20, NULL, NULL,
     "tokens of a micro-batch, which one thread works on at a time", OPTION_EXPERT},
    {"accumulators", OPTION_INT, FIELD(accumulators), 0, MAX_ACCUMULATORS, NULL, NULL,
     "blocks that gradients are summed in, which limits the threads of all ranks that can "
     "work; 0: one for each processor, 2 to 8, and as many for each rank", OPTION_EXPERT},
    {"learning-rate", OPTION_REAL, FIELD(learning_rate), 1e-8, 1, NULL, NULL,
     "learning rate at the peak of the schedule", OPTION_COMMON},
    {"schedule", OPTION_CHOICE, FIELD(schedule), 0, 0, SCHEDULES, NULL,
     "decay of the rate after warm-up; cosine and linear reach 0 at --max-updates", 0},
    {"warmup", OPTION_INT, FIELD(warmup), 0, MILLIARD, NULL, NULL,
     "updates of linear warm-up to the peak", 0},
    {"optimizer", OPTION_CHOICE, FIELD(optimizer), 0, 0, OPTIMIZERS, NULL,
     "muon: the layers' matrices learn by Muon, in fewer updates; embeddings, biases and norms by "
     "Adam", 0},
    {"beta1", OPTION_REAL, FIELD(beta1), 0, 0.9999, NULL, NULL,
     "Adam's decay rate of the first moment, the mean gradient", OPTION_EXPERT},
    {"beta2", OPTION_REAL, FIELD(beta2), 0, 0.99999, NULL, NULL,
     "Adam's decay rate of the second moment, the mean squared gradient", OPTION_EXPERT},
    {"epsilon", OPTION_REAL, FIELD(epsilon), 1e-16, 1, NULL, NULL,
     "Adam's addition to the root of the second moment", OPTION_EXPERT},
    {"weight-decay", OPTION_REAL, FIELD(weight_decay), 0, 100, NULL, NULL,
     "AdamW's decoupled decay of matrices, multiplied by the learning rate; 0: none",
     OPTION_EXPERT},
    {"clip-norm", OPTION_REAL, FIELD(clip_norm), 0, 1e9, NULL, NULL,
     "clip the global gradient norm to this value; 0: no clipping", 0},
    {"ema", OPTION_REAL, FIELD(ema), 0, 0.99999, NULL, NULL,
     "decay of an exponential moving average of the weights, which is validated and saved as "
     "best; 0: none", OPTION_EXPERT},
    {"label-smoothing", OPTION_REAL, FIELD(label_smoothing), 0, 0.9, NULL, NULL,
     "share of the target's probability that is spread over all tokens", 0},
    {"dropout", OPTION_REAL, FIELD(dropout), 0, 0.9, NULL, NULL,
     "dropout rate of embeddings and of each sublayer's output", OPTION_COMMON},
    {"attention-dropout", OPTION_REAL, FIELD(attention_dropout), 0, 0.9, NULL, NULL,
     "dropout rate of attention probabilities", OPTION_EXPERT},
    {"activation-dropout", OPTION_REAL, FIELD(activation_dropout), 0, 0.9, NULL, NULL,
     "dropout rate inside the feed-forward network", OPTION_EXPERT},
    {"r-drop", OPTION_REAL, FIELD(r_drop), 0, 100, NULL, NULL,
     "weight of R-Drop, the divergence between two passes of a sentence with different "
     "dropout; an update takes twice the time; 0: one pass", OPTION_EXPERT},
    {"augment", OPTION_REAL, FIELD(augment), 0, 1, NULL, NULL,
     "share of the pairs that an epoch changes: joined sentences, placeholders for names and "
     "numbers, typing errors; 0: none", 0},
    {"both-directions", OPTION_REAL, FIELD(both_directions), 0, 1, NULL, NULL,
     "share of --max-updates, at the beginning, in which half of the pairs are learned backwards, "
     "from target to source, which needs one vocabulary; 0: none", OPTION_EXPERT},
    {"precision", OPTION_CHOICE, FIELD(precision), 0, 0, precision_names, NULL,
     "what the factors of matrix products are rounded to; bf16 (bfloat16) is faster on processors "
     "with AMX, or AVX512-BF16 without it. Sums and weights stay in float", 0},
    {"guide-alignment", OPTION_REAL, FIELD(guide_alignment), 0, 100, NULL, NULL,
     "weight of a loss that teaches head 1 of the last decoder layer which source word each word "
     "translates, as the corpus tells, for --align; 0: none", OPTION_EXPERT},
    {"teacher-weight", OPTION_REAL, FIELD(teacher_weight), 0, 1, NULL, NULL,
     "with --teacher: the teachers' share of what the model learns; the translations have the "
     "rest", OPTION_EXPERT},
    {"valid-every", OPTION_INT, FIELD(valid_every), 0, MILLIARD, NULL, NULL,
     "updates from one validation to the next", 0},
    {"valid-epochs", OPTION_INT, FIELD(valid_epochs), 0, MILLIARD, NULL, NULL,
     "epochs from one validation to the next; if both are 0, every epoch, or as many as keep "
     "validation below a fifth of the work", 0},
    {"valid-translations", OPTION_INT, FIELD(valid_translations), 0, MILLIARD, NULL, NULL,
     "validation sentences to translate, for BLEU, chrF and exact matches", 0},
    {"best", OPTION_CHOICE, FIELD(best), 0, 0, CRITERIA, NULL,
     "measure that compares validations, for best.safetensors and --patience", 0},
    {"patience", OPTION_INT, FIELD(patience), 0, MILLIARD, NULL, NULL,
     "stop after this many validations without a better one; 0: never", OPTION_COMMON},
    {.name = "keep-last", .flags = OPTION_REMOVED},
    {.name = "average", .help = "0", .flags = OPTION_REMOVED},
    {.name = "log-every", .flags = OPTION_REMOVED},
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
                            .teacher_weight = 0.5,
                            .dropout = 0.1,
                            .valid_translations = 500};
}

const char *training_advice(char text[ADVICE_TEXT], const TrainingConfig *c)
{
    char clip[40] = "`clip-norm` 1";
    if (c->clip_norm > 0) snprintf(clip, sizeof clip, "a `clip-norm` below %g", c->clip_norm);
    snprintf(text, ADVICE_TEXT, "try a `learning-rate` below %g, a `warmup` above %d or %s",
             c->learning_rate, c->warmup, clip);
    return text;
}
