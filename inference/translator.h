/* translator.h -- many sentences of token ids to their translations, on all threads.
 *
 *     Translations out;
 *     TranslatorInput input = {.source = source};
 *     Ensemble ensemble = ensemble_of(&model);
 *     if (!translator_run(&out, &ensemble, &input, &search, workers, NULL, error)) return false;
 *     const Hypothesis *best = out.sentence[s].hypothesis;      best->id, best->length
 *     translations_free(&out);
 *
 * Sentences are sorted by length and cut into batches, which the threads take one by one. The cut
 * depends on the sentences, the model and the search alone, so the number of threads changes
 * nothing, not one bit. Nor do other sentences beside it, if the model is prepared (model/quantised.h):
 * then no product depends on which rows are computed together. Where OpenBLAS computes them (in
 * training, and in builds without AVX) it adds in another order for another number of rows, which
 * changes the last bits of a score, and so can decide between hypotheses that are equal up to
 * rounding (tests/inference/translator.c: 99 of 100 log p differ, by at most 3e-5; no ids), or move a sample
 * that is drawn within a rounding error of the border between two tokens.
 */
#ifndef INFERENCE_TRANSLATOR_H
#define INFERENCE_TRANSLATOR_H

#include <signal.h>

#include "base/workers.h"
#include "inference/ensemble.h"
#include "inference/search.h"

typedef struct Translations {
    int sentences;
    Translation *sentence;  // [sentences], in the order of the source
    bool stopped;           // some were not searched, and have no hypothesis
    Arena block;            // the one block that all of it lies in
} Translations;

typedef struct TranslatorInput {
    Packed source;         // S sentences of 1 .. max_length tokens, the last one </s>
    const Packed *prefix;  // NULL, or forced beginnings without </s>, S or one for all
    uint64_t line;  // number of the first sentence in all of the input: samples depend on it
    void (*done)(void *context, int sentences);  // NULL, or called now and then on the caller's
    void *context;                               // thread: so many are done
} TranslatorInput;

/* stop: NULL, or a flag that a signal handler sets; it is looked at between batches.
 * false, with nothing to free: a sentence that a model cannot take, memory, or a network whose
 * numbers are not finite. */
bool translator_run(Translations *translations, const Ensemble *ensemble,
                    const TranslatorInput *input, const SearchConfig *config, Workers *workers,
                    const volatile sig_atomic_t *stop, Error *error);

/* *bytes (=) that translator_run takes, if every hypothesis is as long as it may be. */
bool translator_memory(size_t *bytes, const Ensemble *ensemble, const TranslatorInput *input,
                       const SearchConfig *config, Workers *workers, Error *error);

void translations_free(Translations *translations);

#endif
