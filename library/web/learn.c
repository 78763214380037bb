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

/* The toy's training set, once; the trainings of a page share it. */
static bool make_corpus(void)
{
    CorpusText text = {0};
    CorpusReport report = {0};
    const Tokenizer *tokenizer[SIDES] = {web.vocabulary.tokenizer[SOURCE],
                                         web.vocabulary.tokenizer[TARGET]};
    static char en[LINE_BYTES], fr[LINE_BYTES], align[LINE_BYTES];
    if (learn.corpus.pairs) return true;
    for (int i = 0; i < TEST_PAIRS + VALID_PAIRS + TRAIN_PAIRS; i++) {
        corpus_next(en, fr, align);
        if (i >= TEST_PAIRS + VALID_PAIRS &&
            !corpus_add(&text, (const char *[]){en, fr}, (size_t[]){strlen(en), strlen(fr)},
                        (CorpusLine){0}, &web.error))
            return corpus_text_free(&text), false;
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
