/* translator.c -- translating for the library's caller; see qkv.h. */
#include <limits.h>
#include <stdlib.h>

#include "inference/copying.h"
#include "inference/scoring.h"
#include "inference/translator.h"
#include "library/internal.h"

struct QkvTranslator {
    const Bundle *bundle;
    Ensemble ensemble;
    Workers *workers;
    SearchConfig search;
};

QkvTranslator *qkv_translator_new(const QkvModel *model, int threads, QkvError *to)
{
    enum { MOST_THREADS = 1024 };
    Error error = {"not enough memory for a translator"};
    if (!library_given(model, "the model", &error)) return library_fail(to, &error);
    if (threads < 0 || threads > MOST_THREADS) {
        error_set(&error, "a translator has 1 to %d threads, or 0 for all processors, not %d",
                  MOST_THREADS, threads);
        return library_fail(to, &error);
    }
    QkvTranslator *translator = calloc(1, sizeof *translator);
    Workers *workers =
        translator ? workers_start(threads ? threads : workers_processors(), &error) : NULL;
    if (!workers) {
        free(translator);
        return library_fail(to, &error);
    }
    *translator = (QkvTranslator){&model->bundle, ensemble_of(&model->bundle.model), workers,
                                  search_copying};
    return translator;
}

void qkv_translator_free(QkvTranslator *translator)
{
    if (translator) workers_stop(translator->workers);
    free(translator);
}

bool qkv_translator_set(QkvTranslator *translator, const char *option, const char *value,
                        QkvError *to)
{
    Error error = {""};
    if (!library_given(translator, "the translator", &error))
        return library_fail(to, &error), false;
    locale_t before = library_enter();
    SearchConfig search = translator->search;
    OptionGroup group = {"Searching", NULL, search_options, search_option_count, &search};
    bool good = option && value
                    ? options_set(&group, 1, option, value, &error)
                    : error_set(&error, "an option and its value are texts, not NULL");
    if (good) translator->search = search;
    else library_fail(to, &error);
    library_leave(before);
    return good;
}

/* ---- translating ---- */

/* What qkv_translate returns, with the memory that it points to. */
typedef struct TranslationResult {
    QkvTranslations out;  // first: the caller's pointer
    QkvTranslation *sentence;
    QkvHypothesis *hypothesis;
    size_t hypotheses;
    const char **token;
    int *id;
} TranslationResult;

void qkv_translations_free(QkvTranslations *translations)
{
    TranslationResult *result = (TranslationResult *)translations;
    if (!result) return;
    for (size_t h = 0; h < result->hypotheses; h++) free((char *)result->hypothesis[h].text);
    free(result->sentence);
    free(result->hypothesis);
    free(result->token);
    free(result->id);
    free(result);
}

/* Appends the texts as ids, and sets the `cut` of each sentence. */
static bool encode_texts(TranslationResult *result, const Bundle *bundle, IdLines *lines,
                         const char *const *texts, int count, Error *error)
{
    for (int i = 0; i < count; i++) {
        size_t cut;
        if (!library_encode(bundle, lines, SOURCE, texts[i], "text", i + 1, &cut, error))
            return false;
        result->sentence[i].cut = cut < INT_MAX ? (int)cut : INT_MAX;
    }
    return true;
}

/* Appends a text as ids, if it need not be cut. */
static bool encode_whole(const Bundle *bundle, IdLines *lines, CorpusSide side,
                         const char *text, const char *what, int number, Error *error)
{
    size_t cut;
    if (!library_encode(bundle, lines, side, text, what, number, &cut, error)) return false;
    return !cut || error_set(error, "%s %d has %zu tokens, and the model takes %d", what,
                             number, cut, bundle->max_length - 1);
}

/* Appends the forced beginnings as ids without </s>. */
static bool encode_beginnings(const Bundle *bundle, IdLines *lines,
                              const char *const *beginnings, int count, Error *error)
{
    for (int i = 0; beginnings && i < count; i++) {
        if (!encode_whole(bundle, lines, TARGET, beginnings[i] ? beginnings[i] : "",
                          "beginning", i + 1, error))
            return false;
        lines->ids.count--;
        lines->start[lines->count]--;
    }
    return true;
}

/* Allocates the blocks of the result for all hypotheses. */
static bool allocate(TranslationResult *result, const Translations *found, Error *error)
{
    size_t hypotheses = 0, tokens = 0;
    for (int s = 0; s < found->sentences; s++)
        for (int h = 0; h < found->sentence[s].count; h++, hypotheses++)
            tokens += (size_t)found->sentence[s].hypothesis[h].length;
    result->hypothesis = calloc(hypotheses + 1, sizeof *result->hypothesis);
    result->token = calloc(tokens + 1, sizeof *result->token);
    result->id = calloc(tokens + 1, sizeof *result->id);
    return (result->hypothesis && result->token && result->id) ||
           error_memory(error, "for %zu translations", hypotheses);
}

/* Text, with unknown words copied, of a translation of line s. */
static bool decode(char **text, const Bundle *bundle, const IdLines *lines, int s,
                   const Hypothesis *from, Error *error)
{
    LazySnapshot lazy = copying_snapshot(&bundle->model, lines, s, from);
    const char **copied;
    bool good = copying_choose(&copied, lines, s, from, &lazy, error) &&
                tokenizer_decode_unknown(bundle->vocabulary.tokenizer[TARGET], text, from->id,
                                         (size_t)from->length, copied, error);
    snapshot_close(lazy.taken);
    free(copied);
    return good;
}

/* Fills the result. An empty text has one hypothesis, which is empty. */
static bool fill(TranslationResult *result, const Bundle *bundle, const IdLines *lines,
                 const Translations *found, Error *error)
{
    const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[TARGET];
    static const Hypothesis nothing = {0};
    size_t token = 0;
    if (!allocate(result, found, error)) return false;
    for (int s = 0; s < found->sentences; s++) {
        bool empty = lines->start[s + 1] - lines->start[s] == 1;
        QkvTranslation *sentence = &result->sentence[s];
        sentence->hypothesis = result->hypothesis + result->hypotheses;
        sentence->count = empty ? 1 : found->sentence[s].count;
        for (int h = 0; h < sentence->count; h++) {
            const Hypothesis *from = empty ? &nothing : &found->sentence[s].hypothesis[h];
            char *text;
            if (!decode(&text, bundle, lines, s, from, error)) return false;
            result->hypothesis[result->hypotheses++] =
                (QkvHypothesis){text,         from->score,           from->log_probability,
                                from->length, result->token + token, result->id + token};
            for (int t = 0; t < from->length; t++, token++) {
                result->id[token] = from->id[t];
                result->token[token] = tokenizer_piece(tokenizer, from->id[t]);
            }
        }
    }
    return true;
}

static bool translate(TranslationResult *result, QkvTranslator *translator,
                      const char *const *texts, const char *const *beginnings, int count,
                      Error *error)
{
    const Bundle *bundle = translator->bundle;
    IdLines lines = {.find_unknown = translator->search.copy_unknown}, beginning = {0};
    Translations found = {0};
    bool good = search_check(&translator->search, error) &&
                encode_texts(result, bundle, &lines, texts, count, error) &&
                encode_beginnings(bundle, &beginning, beginnings, count, error);
    if (good) {
        Packed prefix = beginnings ? idlines_packed(&beginning) : (Packed){0};
        TranslatorInput input = {
            .source = idlines_packed(&lines), .prefix = beginnings ? &prefix : NULL, .line = 1};
        good = translator_run(&found, &translator->ensemble, &input, &translator->search,
                              translator->workers, NULL, error) &&
               fill(result, bundle, &lines, &found, error);
    }
    translations_free(&found);
    idlines_free(&lines);
    idlines_free(&beginning);
    return good;
}

/* Whether a call can have this translator and this list of texts [count]. */
static bool can_take(const QkvTranslator *translator, const char *const *texts,
                     const char *what, int count, Error *error)
{
    if (count < 0) return error_set(error, "there cannot be %d texts", count);
    return library_given(translator, "the translator", error) &&
           (!count || library_given(texts, what, error));
}

QkvTranslations *qkv_translate(QkvTranslator *translator, const char *const *texts,
                               const char *const *beginnings, int count, QkvError *to)
{
    Error error;
    if (!can_take(translator, texts, "the list of texts", count, &error))
        return library_fail(to, &error);
    error_memory(&error, "for %d translations", count);
    locale_t before = library_enter();
    TranslationResult *result = calloc(1, sizeof *result);
    if (result) result->sentence = calloc((size_t)count + 1, sizeof *result->sentence);
    bool good = result && result->sentence &&
                (!count || translate(result, translator, texts, beginnings, count, &error));
    library_leave(before);
    if (!good) {
        qkv_translations_free(result ? &result->out : NULL);
        return library_fail(to, &error);
    }
    result->out = (QkvTranslations){count, result->sentence};
    return &result->out;
}

/* ---- scoring ---- */

static bool score(double *log_probability, QkvTranslator *translator, const char *const *texts,
                  const char *const *translations, int count, Error *error)
{
    const Bundle *bundle = translator->bundle;
    IdLines source = {0}, target = {0};
    bool good = true;
    for (int i = 0; good && i < count; i++)
        good =
            encode_whole(bundle, &source, SOURCE, texts[i], "text", i + 1, error) &&
            encode_whole(bundle, &target, TARGET, translations[i], "translation", i + 1, error);
    double *each = calloc(target.ids.count + 1, sizeof *each);
    if (good && !each) good = error_memory(error, "to score %d texts", count);
    if (good) {
        Packed x = idlines_packed(&source), y = idlines_packed(&target);
        good = scoring_run(each, NULL, &translator->ensemble, &x, &y, translator->workers, NULL,
                           error);
    }
    for (int s = 0; good && s < count; s++) {
        log_probability[s] = 0;
        for (int t = target.start[s]; t < target.start[s + 1]; t++)
            log_probability[s] += each[t];
    }
    free(each);
    idlines_free(&source);
    idlines_free(&target);
    return good;
}

bool qkv_score(double *log_probability, QkvTranslator *translator, const char *const *texts,
               const char *const *translations, int count, QkvError *to)
{
    Error error = {""};
    locale_t before = library_enter();
    bool good =
        can_take(translator, texts, "the list of texts", count, &error) &&
        (!count || (library_given(translations, "the list of translations", &error) &&
                    library_given(log_probability, "the array of scores", &error) &&
                    score(log_probability, translator, texts, translations, count, &error)));
    library_leave(before);
    if (!good) library_fail(to, &error);
    return good;
}
