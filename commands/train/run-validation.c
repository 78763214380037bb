/* run-validation.c -- how good a model in training is: loss and translations of held-out pairs; see
 * run.h.
 *
 * The candidate, which is the weights or with --ema X their moving average, is validated, makes
 * the sample translations, and becomes best.safetensors. last.safetensors has the weights
 * themselves and their moving average, which training resumes from. */
#include "commands/train/run.h"

#include "base/file.h"
#include "scores/statistics.h"
#include "training/distributed.h"

static void free_results(Validation *v)
{
    for (int s = 0; v->hypothesis && s < v->translations; s++) free(v->hypothesis[s]);
    free(v->hypothesis);
    free(v->is_exact);
    translations_free(&v->ids);
    *v = (Validation){
        .batches = v->batches, .translations = v->translations, .search = v->search};
}

/* The fewest epochs between two validations with which validating is at most a quarter of the
 * work of training. */
static int epochs_between(const Run *run)
{
    const size_t *tokens = run->report.tokens;
    double training = 3.0 * (double)(tokens[SOURCE] + tokens[TARGET]);
    double validating = validation_work(&run->settings->training, &run->valid_report);
    return (int)fmin(ceil(4 * validating / training), 1e9);
}

bool run_prepare_validation(Run *run, Error *error)
{
    Validation *v = &run->validation;
    const TrainingConfig *config = &run->settings->training;
    const size_t *tokens = run->valid_report.tokens;
    int pairs = (int)run->valid.pairs;
    *v = (Validation){.translations = at_most(config->valid_translations, pairs),
                      .search = search_default};
    v->search.beam = v->search.n_best = 1;
    // an untrained model may repeat a token without end
    v->search.max_length_ratio = 1.5 * (double)tokens[TARGET] / (double)tokens[SOURCE];
    run->valid_epochs = config->valid_epochs;
    if (!config->valid_every && !config->valid_epochs) run->valid_epochs = epochs_between(run);
    if (!distributed_share(&run->valid_epochs, sizeof run->valid_epochs, error) ||
        !batches_init(&v->batches, &run->valid, 0, config->batch_tokens, error))
        return false;
    v->batches.in_order = true;
    return true;
}

void run_free_validation(Run *run)
{
    free_results(&run->validation);
    batches_free(&run->validation.batches);
}

static bool find_loss(Run *run, Error *error)
{
    Validation *v = &run->validation;
    Loss loss = {0};
    for (size_t u = 0; u < batches_updates(&v->batches, 0); u++) {
        int pairs;
        Loss part;
        if (!batches_update(&v->batches, &pairs, 0, u, error) ||
            !trainer_evaluate(run->trainer, v->batches.pair, pairs, &part, error))
            return false;
        loss.nll += part.nll;
        loss.tokens += part.tokens;
    }
    v->quality = (Quality){loss.nll / (double)loss.tokens, NAN, NAN};
    char advice[ADVICE_TEXT];
    return isfinite(loss.nll) ||
           error_set(error, "update %lld: the loss of the validation is not finite; %s",
                     run->progress.update, training_advice(advice, &run->settings->training));
}

/* A reference as the model would write it, in its normal form; or as it is, if the model lacks a
 * character of it. For free(); NULL after an error. */
static char *reference_of(const Run *run, size_t pair, Error *error)
{
    char *normal;
    CorpusSentence s = corpus_sentence(&run->valid_text, TARGET, pair);
    if (!tokenizer_normal_form(run->vocabulary.tokenizer[TARGET], &normal, s.text, s.length,
                               error))
        return NULL;
    char *reference = normal ? composed(normal, strlen(normal)) : composed(s.text, s.length);
    free(normal);
    if (!reference) error_memory(error, "to score translations");
    return reference;
}

static bool score_translations(Run *run, Error *error)
{
    Validation *v = &run->validation;
    Bleu bleu = {.tokenization = (Tokenization)run->settings->data.bleu_tokenize,
                 .context = run->vocabulary.tokenizer[TARGET]};
    if (bleu.tokenization == TOKENIZATION_SPM) bleu.split = tokenizer_split;
    Chrf chrf = {.word_order = 0};
    for (int s = 0; s < v->translations; s++) {
        char *reference = reference_of(run, (size_t)s, error),
             *own = composed(v->hypothesis[s], strlen(v->hypothesis[s]));
        bool good = reference && (own || error_memory(error, "to score translations"));
        good = good && bleu_add(&bleu, own, (const char *[]){reference}, 1, error) &&
               chrf_add(&chrf, own, (const char *[]){reference}, 1, error);
        v->exact += v->is_exact[s] = good && !strcmp(own, reference);
        free(reference);
        free(own);
        if (!good) return false;
    }
    v->quality.bleu = bleu_score(&bleu).score;
    v->quality.chrf = chrf_score(&chrf);
    return true;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* v->doubtful (=) the 2 % quantile of log p / length, or ln 0.8: tokens of a mean probability of
 * 0.8 are not doubtful, however sure the model is of the others. */
static bool translate(Run *run, Error *error)
{
    Validation *v = &run->validation;
    size_t count = (size_t)v->translations;
    Ensemble alone = ensemble_of(&run->model);
    const Vocabulary *vocabulary = &run->vocabulary;
    TranslatorInput input = translator_input((Packed){0}, vocabulary);
    Packed target;
    if (!batches_packed(&v->batches, &input.source, &target, 0, count, error) ||
        !translator_run(&v->ids, &alone, &input, &v->search, run->workers, &file_stop, error) ||
        v->ids.stopped)
        return false;
    double *each = malloc(count * sizeof *each);
    v->hypothesis = calloc(count, sizeof *v->hypothesis);
    v->is_exact = calloc(count, sizeof *v->is_exact);
    bool good =
        (each && v->hypothesis && v->is_exact) || error_memory(error, "for translations");
    for (int s = 0; good && s < v->translations; s++) {
        const Hypothesis *best = v->ids.sentence[s].hypothesis;
        each[s] = best->log_probability / best->length;
        good = tokenizer_decode(run->vocabulary.tokenizer[TARGET], &v->hypothesis[s], best->id,
                                (size_t)best->length, error);
    }
    if (good) qsort(each, count, sizeof *each, by_number);
    if (good) v->doubtful = fmin(each[count / 50], log(0.8));
    free(each);
    return good && score_translations(run, error);
}

bool run_validate(Run *run, Error *error)
{
    free_results(&run->validation);
    return find_loss(run, error) &&
           (run->validation.translations == 0 || translate(run, error));
}
