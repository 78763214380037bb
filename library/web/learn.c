/* learn.c -- training in a page, an update at a time; see web.h. */
#include "library/web/web.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/batches.h"
#include "data/toy/grammar.h"
#include "training/trainer.h"

enum { TEST_PAIRS = 500, VALID_PAIRS = 500, TRAIN_PAIRS = 20000 };

static struct {
    Corpus corpus;
    Batches batches;
    TrainingConfig config;
    Trainer *trainer;
    long long update;  // made
    uint64_t epoch;
    size_t in_epoch;  // updates
} learn;

/* Appends sentence i; its bytes are allocated. */
static void add(CorpusText *text, CorpusSide side, size_t i, const char *line)
{
    size_t length = strlen(line), *start = text->start[side];
    memcpy(text->bytes[side] + start[i], line, length);
    start[i + 1] = start[i] + length;
}

/* The toy's training set, once; the trainings of a page share it. */
static bool make_corpus(void)
{
    CorpusText text = {.pairs = TRAIN_PAIRS};
    CorpusReport report = {.read = TRAIN_PAIRS, .kept = TRAIN_PAIRS};
    const Tokenizer *tokenizer[SIDES] = {web.vocabulary.tokenizer[SOURCE],
                                         web.vocabulary.tokenizer[TARGET]};
    static char en[LINE_BYTES], fr[LINE_BYTES], align[LINE_BYTES];
    if (learn.corpus.pairs) return true;
    text.line = calloc(TRAIN_PAIRS, sizeof *text.line);
    bool good = text.line;
    for (int side = 0; side < SIDES; side++) {
        text.bytes[side] = malloc((size_t)TRAIN_PAIRS * LINE_BYTES / 8);
        text.start[side] = calloc(TRAIN_PAIRS + 1, sizeof *text.start[side]);
        good = good && text.bytes[side] && text.start[side];
    }
    if (!good) return corpus_text_free(&text), error_memory(&web.error, "for a corpus");
    for (size_t i = 0; i < TEST_PAIRS + VALID_PAIRS; i++) corpus_next(en, fr, align);
    for (size_t i = 0; i < TRAIN_PAIRS; i++) {
        corpus_next(en, fr, align);
        add(&text, SOURCE, i, en);
        add(&text, TARGET, i, fr);
    }
    return corpus_encode(&learn.corpus, &text, &report, tokenizer, NULL,
                         web.model.config.max_length - 1, false, &web.error);
}

bool EXPORT(web_train)(const char *options)
{
    const OptionGroup group = {"Training", NULL, training_options, training_option_count,
                               &learn.config};
    trainer_free(learn.trainer);
    batches_free(&learn.batches);
    learn.trainer = NULL;
    learn.config = training_defaults();
    learn.update = 0, learn.epoch = 0, learn.in_epoch = 0;
    if (!web_options(&group, options) || !make_corpus() ||
        !batches_init(&learn.batches, &learn.corpus, learn.config.seed,
                      learn.config.batch_tokens, &web.error))
        return false;
    params_initialise(&web.model.params, web.model.block, learn.config.seed);
    learn.trainer = trainer_create(&web.model, &learn.config, NULL,
                                   workers_start(1, &web.error), &web.error);
    return learn.trainer;
}

void EXPORT(web_learning_rate)(double rate)
{
    learn.config.learning_rate = rate;  // the trainer reads it at every update
}

double EXPORT(web_update)(void)
{
    int count;
    UpdateStats stats;
    if (learn.in_epoch == batches_updates(&learn.batches, learn.epoch))
        learn.epoch++, learn.in_epoch = 0;
    if (!batches_update(&learn.batches, &count, learn.epoch, learn.in_epoch++, &web.error) ||
        !trainer_update(learn.trainer, ++learn.update, learn.batches.pair, count, &stats,
                        &web.error))
        return NAN;
    return stats.loss.nll / (double)stats.loss.tokens;
}
