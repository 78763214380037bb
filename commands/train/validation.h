/* validation.h -- how good a model in training is: loss on held-out pairs, and translations. */
#ifndef COMMANDS_TRAIN_VALIDATION_H
#define COMMANDS_TRAIN_VALIDATION_H

#include <signal.h>

#include "data/batches.h"
#include "data/corpus.h"
#include "inference/tokenization.h"
#include "inference/translator.h"
#include "training/progress.h"
#include "training/trainer.h"

typedef struct Validation {
    const Corpus *corpus;
    const CorpusText *text;  // its pairs as text, the references
    Batches batches;
    const Tokenizer *tokenizer;
    int translations;    // of the first so many pairs
    Tokenization words;  // of BLEU
    /* results of the last validation_run */
    Loss loss;
    int translated;     // 0: no scores
    int exact;          // translations equal to their reference
    double bleu, chrf;  // percent
    char **hypothesis;  // [translated]
    Translations ids;
} Validation;

bool validation_create(Validation *validation, const Corpus *corpus, const CorpusText *text,
                       const Tokenizer *tokenizer, int translations, Tokenization words,
                       int batch_tokens, Error *error);
void validation_free(Validation *validation);

/* *stop cuts the translating short; then false with an empty sentence. False, too, if the loss
 * is not finite. */
bool validation_run(Validation *validation, Trainer *trainer, const Transformer *model,
                    Workers *workers, const volatile sig_atomic_t *stop, Error *error);

/* *bytes (=) that the translating takes, at most. */
bool validation_memory(Validation *validation, size_t *bytes, const Transformer *model,
                       Workers *workers, Error *error);

/* The results as numbers to compare. */
Quality validation_quality(const Validation *validation);

#endif
