/* translator.h -- translates many sentences of token ids, on all threads.
 *
 *     Translations out;
 *     TranslatorInput input = translator_input(source, vocabulary);
 *     Ensemble ensemble = ensemble_of(&model);
 *     if (!translator_run(&out, &ensemble, &input, &search, workers, NULL, error))
 *         return false;
 *     const Hypothesis *best = out.sentence[s].hypothesis;      best->id, best->length
 *     translations_free(&out);
 *
 * The sentences are sorted by length and cut into batches. Each thread takes the next batch
 * when it is free. The batches depend only on the sentences, the model and the search, so the
 * number of threads does not change the results, not by one bit. Neither do the other sentences
 * of the call: a row of a product does not depend on the other rows (kernels/gemm.h).
 *
 * With placeholders, every hypothesis has each of them as often as its source, which may take more
 * than max_tokens. A prefix constraint may begin with some of them. */
#pragma once

#include <signal.h>

#include "base/workers.h"
#include "data/vocabulary.h"
#include "inference/ensemble.h"
#include "inference/search.h"

typedef struct Translations {
    int sentences;
    Translation *sentence;  // [sentences], in the order of the source
    bool stopped;           // some sentences were not searched and have no hypothesis
    Arena block;            // holds all of it
} Translations;

typedef struct TranslatorInput {
    Packed source;  // S sentences of 1 .. max_length tokens, the last one </s>
    /* Prefix constraints, S of them or one for all; or NULL. One that ends in </s> is the whole
     * translation. */
    const Packed *prefix;
    int placeholder;  // vocabulary_placeholder, or 0
    int first_byte;   // the target's tokenizer_first_byte, or 0
    uint64_t line;    // number of the first sentence in the whole input; samples depend on it
    void (*done)(void *context,
                 int sentences);  // called now and then on the caller's thread, with
    void *context;                // the number of sentences done; NULL if not needed
} TranslatorInput;

static inline TranslatorInput translator_input(Packed source, const Vocabulary *vocabulary)
{
    return (TranslatorInput){.source = source,
                             .placeholder = vocabulary_placeholder(vocabulary),
                             .first_byte = tokenizer_first_byte(vocabulary->tokenizer[TARGET]),
                             .line = 1};
}

/* Whether these models can search so; translator_run checks it, too. */
bool translator_check(const Ensemble *ensemble, const SearchConfig *config, Error *error);

/* stop: a flag that a signal handler sets, checked between batches; NULL if not needed. false,
 * with nothing to free: a sentence that a model cannot take, not enough memory, or a number of
 * the network that is not finite. */
bool translator_run(Translations *translations, const Ensemble *ensemble,
                    const TranslatorInput *input, const SearchConfig *config, Workers *workers,
                    const volatile sig_atomic_t *stop, Error *error);

void translations_free(Translations *translations);
