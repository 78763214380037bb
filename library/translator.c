/* translator.c -- the library's face: texts to their translations; see qkv.h. */
#include <limits.h>
#include <stdlib.h>

#include "inference/copying.h"
#include "inference/translator.h"
#include "library/border.h"

struct QkvTranslator {
    const Bundle *bundle;
    Ensemble ensemble;
    Workers *workers;
    SearchConfig search;
};

QkvTranslator *qkv_translator_new(const QkvModel *model, int threads, QkvError *to)
{
    enum { MOST_THREADS = 1024 };
    Error error = {""};
    QkvTranslator *translator = calloc(1, sizeof *translator);
    if (!translator) error_set(&error, "not enough memory for a translator");
    else if (threads < 0 || threads > MOST_THREADS)
        error_set(&error,
                  "a translator has 1 to %d threads, or 0 for one each processor, not %d",
                  MOST_THREADS, threads);
    else if ((translator->workers =
                  workers_start(threads ? threads : workers_processors(), &error))) {
        translator->bundle = &model->bundle;
        translator->ensemble = ensemble_of(&model->bundle.model);
        translator->search = search_copying;
        return translator;
    }
    free(translator);
    return border_refuse(to, &error);
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
    locale_t before = border_enter();
    SearchConfig search = translator->search;
    OptionGroup group = {"Searching", NULL, search_options, search_option_count, &search};
    bool good = option && value
                    ? options_set(&group, 1, option, value, &error)
                    : error_set(&error, "an option and its value are texts, not NULL");
    if (good) translator->search = search;
    else border_refuse(to, &error);
    border_leave(before);
    return good;
}

/* ---- translating ---- */

/* What qkv_translate returns, with the blocks that its pointers point into. */
typedef struct Result {
    QkvTranslations out;  // first: it is what the caller has
    QkvTranslation *sentence;
    QkvHypothesis *hypothesis;
    size_t hypotheses;
    const char **token;
    int *id;
} Result;

void qkv_translations_free(QkvTranslations *translations)
{
    Result *result = (Result *)translations;
    if (!result) return;
    for (size_t h = 0; h < result->hypotheses; h++) free((char *)result->hypothesis[h].text);
    free(result->sentence);
    free(result->hypothesis);
    free(result->token);
    free(result->id);
    free(result);
}

/* Forced beginnings: ids without an end. */
static bool encode_beginnings(const Bundle *bundle, IdLines *lines,
                              const char *const *beginnings, int count, Error *error)
{
    for (int i = 0; i < count; i++) {
        size_t cut;
        if (!border_encode(bundle, lines, TARGET, beginnings[i] ? beginnings[i] : "",
                           "beginning", i + 1, &cut, error))
            return false;
        if (cut)
            return error_set(error, "beginning %d has %zu tokens, and the model takes %d",
                             i + 1, cut, bundle->max_length - 1);
        lines->ids.count--;
        lines->start[lines->count]--;
    }
    return true;
}

/* The sizes are known now: the blocks of a result for what was found. */
static bool make_room(Result *result, const Translations *found, Error *error)
{
    size_t hypotheses = 0, tokens = 0;
    for (int s = 0; s < found->sentences; s++)
        for (int h = 0; h < found->sentence[s].count; h++, hypotheses++)
            tokens += (size_t)found->sentence[s].hypothesis[h].length;
    result->hypothesis = calloc(hypotheses + 1, sizeof *result->hypothesis);
    result->token = calloc(tokens + 1, sizeof *result->token);
    result->id = calloc(tokens + 1, sizeof *result->id);
    if (result->hypothesis && result->token && result->id) return true;
    return error_set(error, "not enough memory for %zu translations", hypotheses);
}

/* Everything that was found, as the caller sees it. Of an empty text there is one hypothesis, and it
 * is empty. */
static bool hand_out(Result *result, const Bundle *bundle, const IdLines *lines,
                     const Translations *found, Error *error)
{
    const Tokenizer *tokenizer = bundle->vocabulary.tokenizer[TARGET];
    static const Hypothesis nothing = {0};
    size_t token = 0;
    if (!make_room(result, found, error)) return false;
    for (int s = 0; s < found->sentences; s++) {
        bool empty = lines->start[s + 1] - lines->start[s] == 1;
        QkvTranslation *sentence = &result->sentence[s];
        sentence->hypothesis = result->hypothesis + result->hypotheses;
        sentence->count = empty ? 1 : found->sentence[s].count;
        for (int h = 0; h < sentence->count; h++) {
            const Hypothesis *from = empty ? &nothing : &found->sentence[s].hypothesis[h];
            LazySnapshot lazy = {&bundle->model, lines->ids.id + lines->start[s],
                                 from->id,       lines->start[s + 1] - lines->start[s],
                                 from->length,   NULL};
            char *text;
            bool good = copying_decode(&text, tokenizer, lines, s, from, &lazy, error);
            snapshot_close(lazy.taken);
            if (!good) return false;
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

static bool translate(Result *result, QkvTranslator *translator, const char *const *texts,
                      const char *const *beginnings, int count, Error *error)
{
    const Bundle *bundle = translator->bundle;
    IdLines lines = {.find_unknown = translator->search.copy_unknown}, beginning = {0};
    Packed prefix;
    bool good = search_check(&translator->search, error);
    for (int i = 0; i < count && good; i++) {
        size_t cut = 0;
        good = border_encode(bundle, &lines, SOURCE, texts[i], "text", i + 1, &cut, error);
        result->sentence[i].cut = cut < INT_MAX ? (int)cut : INT_MAX;
    }
    if (good && beginnings) {
        good = encode_beginnings(bundle, &beginning, beginnings, count, error);
        prefix = good ? idlines_packed(&beginning) : (Packed){0};
    }
    Translations found = {0};
    if (good) {
        TranslatorInput input = {
            .source = idlines_packed(&lines), .prefix = beginnings ? &prefix : NULL, .line = 1};
        good = translator_run(&found, &translator->ensemble, &input, &translator->search,
                              translator->workers, NULL, error);
    }
    if (good) {
        good = hand_out(result, bundle, &lines, &found, error);
        translations_free(&found);
    }
    idlines_free(&lines);
    idlines_free(&beginning);
    return good;
}

QkvTranslations *qkv_translate(QkvTranslator *translator, const char *const *texts,
                               const char *const *beginnings, int count, QkvError *to)
{
    Error error = {""};
    locale_t before = border_enter();
    Result *result = calloc(1, sizeof *result);
    if (result && count >= 0)
        result->sentence = calloc((size_t)count + 1, sizeof *result->sentence);
    bool good = count < 0 ? error_set(&error, "there cannot be %d texts", count)
                : !result || !result->sentence
                    ? error_set(&error, "not enough memory for %d translations", count)
                    : !count || translate(result, translator, texts, beginnings, count, &error);
    border_leave(before);
    if (!good) {
        qkv_translations_free(result ? &result->out : NULL);
        return border_refuse(to, &error);
    }
    result->out = (QkvTranslations){count, result->sentence};
    return &result->out;
}
