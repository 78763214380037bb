/* validation.c -- loss and translations of held-out pairs; see validation.h. */
#include "commands/train/validation.h"

#include "inference/bleu.h"
#include "inference/chrf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void forget(Validation *v)
{
    for (int s = 0; s < v->translated; s++) free(v->hypothesis[s]);
    free(v->hypothesis);
    translations_free(&v->ids);
    v->hypothesis = NULL;
    v->ids = (Translations){0};
    v->translated = v->exact = 0;
}

bool validation_create(Validation *v, const Corpus *corpus, const CorpusText *text,
                       const Tokenizer *tokenizer, int translations, Tokenization words,
                       int batch_tokens, Error *error)
{
    int count =
        (int)(corpus->pairs < (size_t)translations ? corpus->pairs : (size_t)translations);
    *v = (Validation){.corpus = corpus,
                      .text = text,
                      .tokenizer = tokenizer,
                      .translations = count,
                      .words = words};
    return batches_init(&v->batches, corpus, 0, batch_tokens, error);
}

void validation_free(Validation *v)
{
    forget(v);
    batches_free(&v->batches);
}

static bool loss(Validation *v, Trainer *trainer, Error *error)
{
    v->loss = (Loss){0};
    for (size_t first = 0, end; first < v->corpus->pairs; first = end) {
        Packed source, target;
        Loss part;
        end = batches_fit(&v->batches, first);
        if (!batches_range(&v->batches, &source, &target, first, end, error) ||
            !trainer_evaluate(trainer, &source, &target, &part, error))
            return false;
        v->loss.nll += part.nll;
        v->loss.objective += part.objective;
        v->loss.tokens += part.tokens;
    }
    return true;
}

/* A NUL-terminated copy of a reference. */
static char *reference(const Validation *v, int s)
{
    size_t length;
    const char *text = corpus_sentence(v->text, TARGET, (size_t)s, &length);
    return strndup(text, length);
}

static bool score(Validation *v, Error *error)
{
    Bleu bleu = {.tokenization = v->words};
    Chrf chrf = {.word_order = 0};
    bool good = true;
    for (int s = 0; s < v->translated && good; s++) {
        char *expected = reference(v, s);
        good = expected && bleu_add(&bleu, v->hypothesis[s], expected, error) &&
               chrf_add(&chrf, v->hypothesis[s], expected, error);
        if (!expected) error_set(error, "not enough memory to score translations");
        if (good && !strcmp(v->hypothesis[s], expected)) v->exact++;
        free(expected);
    }
    v->bleu = bleu_score(&bleu).score;
    v->chrf = chrf_score(&chrf);
    return good;
}

static SearchConfig greedy_search_config(void)
{
    SearchConfig greedy = search_default;
    greedy.beam = greedy.n_best = 1;
    greedy.no_scores = true;
    return greedy;
}

static bool translate(Validation *v, const Transformer *model, Workers *workers,
                      const volatile sig_atomic_t *stop, Error *error)
{
    SearchConfig greedy = greedy_search_config();
    Ensemble alone = ensemble_of(model);
    TranslatorInput input = {0};
    Packed target;
    if (!batches_range(&v->batches, &input.source, &target, 0, (size_t)v->translations,
                       error) ||
        !translator_run(&v->ids, &alone, &input, &greedy, workers, stop, error))
        return false;
    if (v->ids.stopped) return error_set(error, "%s", "");
    v->hypothesis = calloc((size_t)v->translations, sizeof *v->hypothesis);
    if (!v->hypothesis) return error_set(error, "not enough memory for translations");
    for (; v->translated < v->translations; v->translated++) {
        const Hypothesis *best = v->ids.sentence[v->translated].hypothesis;
        if (!tokenizer_decode(v->tokenizer, &v->hypothesis[v->translated], best->id,
                              (size_t)best->length, error))
            return false;
    }
    return score(v, error);
}

bool validation_run(Validation *v, Trainer *trainer, const Transformer *model, Workers *workers,
                    const volatile sig_atomic_t *stop, Error *error)
{
    forget(v);
    if (!loss(v, trainer, error)) return false;
    if (!isfinite(v->loss.nll)) return error_set(error, "the validation loss is not finite");
    return v->translations == 0 || translate(v, model, workers, stop, error);
}

bool validation_memory(Validation *v, size_t *bytes, const Transformer *model, Workers *workers,
                       Error *error)
{
    SearchConfig greedy = greedy_search_config();
    Ensemble alone = ensemble_of(model);
    TranslatorInput input = {0};
    Packed target;
    *bytes = 0;
    return v->translations == 0 ||
           (batches_range(&v->batches, &input.source, &target, 0, (size_t)v->translations,
                          error) &&
            translator_memory(bytes, &alone, &input, &greedy, workers, error));
}

Quality validation_quality(const Validation *v)
{
    return (Quality){.loss = v->loss.nll / (double)v->loss.tokens,
                     .bleu = v->translated ? v->bleu : NAN,
                     .chrf = v->translated ? v->chrf : NAN};
}
