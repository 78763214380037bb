/* validation.c -- loss and translations of held-out pairs; see validation.h. */
#include "commands/train/validation.h"

#include "inference/bleu.h"
#include "inference/chrf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_results(Validation *v)
{
    for (int s = 0; s < v->translated; s++) free(v->hypothesis[s]);
    free(v->hypothesis);
    translations_free(&v->ids);
    v->hypothesis = NULL;
    v->ids = (Translations){0};
    v->translated = v->exact = 0;
}

bool validation_create(Validation *v, const Run *run, Error *error)
{
    const TrainingConfig *config = &run->settings->training;
    bool few = run->valid.pairs < (size_t)config->valid_translations;
    *v = (Validation){.run = run,
                      .translations = few ? (int)run->valid.pairs : config->valid_translations};
    return batches_init(&v->batches, &run->valid, 0, config->batch_tokens, error);
}

void validation_free(Validation *v)
{
    free_results(v);
    batches_free(&v->batches);
}

static bool find_loss(Validation *v, Error *error)
{
    Loss loss = {0};
    for (size_t first = 0, end; first < v->run->valid.pairs; first = end) {
        Packed source, target;
        Loss part;
        end = batches_fit(&v->batches, first);
        if (!batches_range(&v->batches, &source, &target, first, end, error) ||
            !trainer_evaluate(v->run->trainer, &source, &target, &part, error))
            return false;
        loss.nll += part.nll;
        loss.tokens += part.tokens;
    }
    v->quality = (Quality){loss.nll / (double)loss.tokens, NAN, NAN};
    char advice[ADVICE_TEXT];
    return isfinite(loss.nll) ||
           error_set(error, "update %lld: the loss of the validation is not finite; %s",
                     v->run->progress.update,
                     training_advice(advice, &v->run->settings->training));
}

static bool score_translations(Validation *v, Error *error)
{
    Bleu bleu = {.tokenization = (Tokenization)v->run->settings->data.bleu_tokenize};
    Chrf chrf = {.word_order = 0};
    for (int s = 0; s < v->translated; s++) {
        size_t length;
        const char *text = corpus_sentence(&v->run->valid_text, TARGET, (size_t)s, &length);
        char *reference = strndup(text, length);
        if (!reference) return error_set(error, "not enough memory to score translations");
        bool good = bleu_add(&bleu, v->hypothesis[s], reference, error) &&
                    chrf_add(&chrf, v->hypothesis[s], reference, error);
        if (!strcmp(v->hypothesis[s], reference)) v->exact++;
        free(reference);
        if (!good) return false;
    }
    v->quality.bleu = bleu_score(&bleu).score;
    v->quality.chrf = chrf_score(&chrf);
    return true;
}

/* Greedy search for the pairs to translate; search, ensemble and input (=). */
static bool prepare_search(Validation *v, SearchConfig *search, Ensemble *ensemble,
                           TranslatorInput *input, Error *error)
{
    Packed target;
    *search = search_default;
    search->beam = search->n_best = 1;
    search->no_scores = true;
    search->max_tokens = v->max_tokens;
    *ensemble = ensemble_of(&v->run->model);
    *input = (TranslatorInput){0};
    return batches_range(&v->batches, &input->source, &target, 0, (size_t)v->translations,
                         error);
}

static bool translate(Validation *v, const volatile sig_atomic_t *stop, Error *error)
{
    SearchConfig greedy;
    Ensemble alone;
    TranslatorInput input;
    if (!prepare_search(v, &greedy, &alone, &input, error) ||
        !translator_run(&v->ids, &alone, &input, &greedy, v->run->workers, stop, error) ||
        v->ids.stopped)
        return false;
    v->hypothesis = calloc((size_t)v->translations, sizeof *v->hypothesis);
    if (!v->hypothesis) return error_set(error, "not enough memory for translations");
    for (; v->translated < v->translations; v->translated++) {
        const Hypothesis *best = v->ids.sentence[v->translated].hypothesis;
        if (!tokenizer_decode(v->run->vocabulary.tokenizer[TARGET],
                              &v->hypothesis[v->translated], best->id, (size_t)best->length,
                              error))
            return false;
    }
    return score_translations(v, error);
}

bool validation_run(Validation *v, const volatile sig_atomic_t *stop, Error *error)
{
    free_results(v);
    return find_loss(v, error) && (v->translations == 0 || translate(v, stop, error));
}

bool validation_memory(Validation *v, size_t *bytes, Error *error)
{
    SearchConfig greedy;
    Ensemble alone;
    TranslatorInput input;
    *bytes = 0;
    return v->translations == 0 ||
           (prepare_search(v, &greedy, &alone, &input, error) &&
            translator_memory(bytes, &alone, &input, &greedy, v->run->workers, error));
}
